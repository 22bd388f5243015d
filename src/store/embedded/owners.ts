/**
 * Who owns the server of a data folder, for people who ask, and for the last owner, who waits for its end.
 *
 * Each writes a file of its own, owner-<id>.json, when it has its share in the server. What keeps the server running
 * is the share: a file that a killed process has left means nothing.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Host } from "../../runtime/host.ts"
import { absentOn } from "./failure.ts"
import { isLive, type Marked, markOfThis, parseMarked } from "./processes.ts"

export interface OwnerEntry {
  readonly remove: () => Promise<void>
}

export async function enterOwner(host: Host, folder: string): Promise<OwnerEntry> {
  const file = join(folder, `owner-${host.newId()}.json`)
  const owner = await markOfThis(host)
  await writeFile(file, JSON.stringify(owner), { flag: "wx", mode: 0o644 })
  return { remove: () => rm(file, { force: true }) }
}

/** Those that live. */
export async function listOwners(host: Host, folder: string): Promise<Marked[]> {
  const owners: Marked[] = []
  for (const file of await ownerFiles(folder)) {
    const owner = parseMarked((await readFile(file, "utf8").catch(absentOn("ENOENT"))) ?? "")
    if (owner && (await isLive(host, owner))) owners.push(owner)
  }
  return owners
}

/** Removes the files of those that were killed. */
export async function forgetDeadOwners(host: Host, folder: string): Promise<void> {
  for (const file of await ownerFiles(folder)) {
    const owner = parseMarked((await readFile(file, "utf8").catch(absentOn("ENOENT"))) ?? "")
    if (owner && !(await isLive(host, owner))) await rm(file, { force: true })
  }
}

async function ownerFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(absentOn("ENOENT"))) ?? []
  return names.filter((name) => /^owner-.*\.json$/.test(name)).map((name) => join(folder, name))
}
