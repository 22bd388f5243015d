/**
 * The owners of the server of a data folder, for people who ask and for the last owner, who waits for its end.
 *
 * Each owner writes a file owner-<id>.json when it has its share in the server. Only the share keeps the server
 * running. The file of a killed process means nothing.
 */
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Host } from "../../runtime/host.ts"
import { absentOn } from "./failure.ts"
import { isLive, type Marked, markOfThis, parseMarked } from "./processes.ts"

export interface Owner {
  readonly pid: number
  readonly sinceMs: number
  /** The file that the process runs, such as `server.js`. Empty if it did not tell. */
  readonly program: string
}

export interface OwnerEntry {
  readonly remove: () => Promise<void>
}

export async function enterOwner(host: Host, folder: string): Promise<OwnerEntry> {
  const file = join(folder, `owner-${host.newId()}.json`)
  const owner = { ...(await markOfThis(host)), program: host.facts.program }
  await writeFile(file, JSON.stringify(owner), { flag: "wx", mode: 0o644 })
  return { remove: () => rm(file, { force: true }) }
}

/** The owners that are alive. */
export async function listOwners(host: Host, folder: string): Promise<Owner[]> {
  const entries = await readEntries(folder)
  const live = await Promise.all(entries.map(({ marked }) => isLive(host, marked)))
  return entries.filter((_, index) => live[index]).map(({ owner }) => owner)
}

/** Removes the files of killed owners. */
export async function forgetDeadOwners(host: Host, folder: string): Promise<void> {
  for (const { file, marked } of await readEntries(folder)) {
    if (!(await isLive(host, marked))) await rm(file, { force: true })
  }
}

interface Entry {
  readonly file: string
  readonly marked: Marked
  readonly owner: Owner
}

async function readEntries(folder: string): Promise<Entry[]> {
  const names = (await readdir(folder).catch(absentOn("ENOENT"))) ?? []
  const files = names.filter((name) => /^owner-.*\.json$/.test(name)).map((name) => join(folder, name))
  const entries = await Promise.all(files.map((file) => readEntry(file).catch(absentOn("ENOENT"))))
  return entries.filter((entry) => entry !== undefined)
}

async function readEntry(file: string): Promise<Entry | undefined> {
  const text = await readFile(file, "utf8")
  const marked = parseMarked(text)
  if (marked === undefined) return undefined
  const { program } = JSON.parse(text) as { program?: unknown }
  const sinceMs = Math.floor((await stat(file)).mtimeMs)
  const owner = { pid: marked.pid, sinceMs, program: typeof program === "string" ? program : "" }
  return { file, marked, owner }
}
