/**
 * Decides which process may run the server of a data folder: one at a time, and after its death the next.
 *
 * A claim is a file owner-<n>.json; the highest number counts. To claim is to create the next number, which
 * the file system grants to one process only. A file that named the owner in place would have to be
 * removed when the owner is dead, and of two processes that find it dead, the slower one would remove
 * the claim of the faster. For the same reason the highest file stays after `release`, emptied.
 */
import { link, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { absentOn, errorCode } from "./failure.ts"
import { processMark } from "./processes.ts"

export interface Claim {
  readonly release: () => Promise<void>
}

/** Each round is lost to another process that made progress, so a few are plenty. */
const MOST_ROUNDS = 10

export async function claimFolder(host: Host, folder: string): Promise<Claim> {
  const mark = await processMark(host, host.facts.pid)
  const owner = JSON.stringify({ pid: host.facts.pid, mark })
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const latest = Math.max(0, ...(await claimNumbers(folder)))
    await refuseIfOwned(host, folder, latest)
    const mine = latest + 1
    if (!(await createClaim(host, folder, mine, owner))) continue
    await removeOldClaims(folder, mine)
    return { release: () => releaseClaim(host, folder, mine) }
  }
  throw new CarillonError("EMBEDDED_FAILED", `Other processes are claiming ${folder}. Start again.`)
}

async function refuseIfOwned(host: Host, folder: string, number: number): Promise<void> {
  const text = await readFile(claimFile(folder, number), "utf8").catch(absentOn("ENOENT"))
  const owner = parseOwner(text ?? "{}")
  if (owner === undefined || (await processMark(host, owner.pid)) !== owner.mark) return
  throw new CarillonError(
    "EMBEDDED_FAILED",
    `The data folder ${folder} is in use by process ${owner.pid}. Stop that process, choose another \`dataDir\`, ` +
      'or let several processes share a server: `database: "postgres://..."`.',
  )
}

/** Whether the number was still free. Written aside first: no one ever reads half a claim. */
async function createClaim(host: Host, folder: string, number: number, owner: string): Promise<boolean> {
  const draft = draftFile(host, folder, number)
  await writeFile(draft, owner, { flag: "wx", mode: 0o644 })
  try {
    await link(draft, claimFile(folder, number))
    return true
  } catch (error) {
    // EEXIST: another process took the number. ENOENT: it even tidied up, our draft included.
    if (errorCode(error) === "EEXIST" || errorCode(error) === "ENOENT") return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Nothing is left to release when somebody has deleted the folder under a running server. */
async function releaseClaim(host: Host, folder: string, number: number): Promise<void> {
  const draft = draftFile(host, folder, number)
  await writeFile(draft, "{}", { flag: "wx", mode: 0o644 })
    .then(() => rename(draft, claimFile(folder, number)))
    .catch(absentOn("ENOENT"))
}

/** The claim before ours stays too: a listing taken at this very moment still ends in a number. */
async function removeOldClaims(folder: string, mine: number): Promise<void> {
  const kept = [claimFile("", mine), claimFile("", mine - 1)]
  const names = (await readdir(folder)).filter((name) => name.startsWith("owner-") && !kept.includes(name))
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })))
}

async function claimNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder)
  return names.flatMap((name) => /^owner-(\d+)\.json$/.exec(name)?.slice(1).map(Number) ?? [])
}

function claimFile(folder: string, number: number): string {
  return join(folder, `owner-${number}.json`)
}

function draftFile(host: Host, folder: string, number: number): string {
  return `${claimFile(folder, number)}.new-${host.newId()}`
}

interface Owner {
  readonly pid: number
  readonly mark: string
}

/** Nobody, when the claim was released or is damaged: only a crash of the whole machine leaves half a file. */
function parseOwner(json: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value !== "object" || value === null || !("pid" in value && "mark" in value)) return undefined
    const { pid, mark } = value
    return typeof pid === "number" && typeof mark === "string" ? { pid, mark } : undefined
  } catch {
    return undefined
  }
}
