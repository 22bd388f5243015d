/**
 * Lets one process at a time use PGlite's folder, and the next after its death. Two at once would destroy the data.
 *
 * A claim is a file pglite-owner-<n>.json, and the highest number counts. A process claims the folder by creating the
 * next number; the file system lets only one process do that. A single file with the owner's name would not work: a
 * process has to remove it when the owner is dead, and the slower of two such processes would remove the claim of the
 * faster. For the same reason `release` empties the highest file and leaves it.
 */
import { link, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { formatInstant } from "../../time/instant.ts"
import { absentOn, errorCode } from "../embedded/failure.ts"
import { processMark } from "../embedded/processes.ts"
import { giveSignOfLife, SIGN_SUFFIX, type SignOfLife, seesSignOfLife } from "./sign-of-life.ts"

export interface FolderLock {
  readonly release: () => Promise<void>
}

/** The holder of a claim. At least one of `mark` and `sign` tells whether it is alive. */
interface Holder {
  readonly pid: number
  /** Distinguishes this process from others with its pid. */
  readonly mark: string | undefined
  readonly sign: string | undefined
}

/** Each lost round means that another process made progress, so a few rounds are enough. */
const MOST_ROUNDS = 10

export async function lockFolder(host: Host, folder: string): Promise<FolderLock> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const lock = await tryToLock(host, folder)
    if (lock !== undefined) return lock
  }
  const message = `Other processes are opening ${folder} at this very moment. Start again.`
  throw new CarillonError("PGLITE_IN_USE", message)
}

/** `undefined` if another process was faster. */
async function tryToLock(host: Host, folder: string): Promise<FolderLock | undefined> {
  // Comes first, before another process can read the claim: a claim without its sign counts as dead.
  const sign = await giveSignOfLife(host, folder)
  try {
    const number = await claimNext(host, folder, sign)
    if (number === undefined) {
      await sign?.end()
      return undefined
    }
    return {
      release: async () => {
        await releaseClaim(folder, number)
        await sign?.end()
      },
    }
  } catch (error) {
    await sign?.end()
    throw error
  }
}

/** The number of our claim, if we got it. */
async function claimNext(
  host: Host,
  folder: string,
  sign: SignOfLife | undefined,
): Promise<number | undefined> {
  const self = { pid: host.facts.pid, mark: await processMark(host, host.facts.pid), sign: sign?.id }
  if (self.mark === undefined && self.sign === undefined) throw cannotLock(folder)
  const latest = await highestClaim(folder)
  await refuseIfHeld(host, folder, latest)
  const mine = latest + 1
  if (!(await createClaim(host, folder, mine, JSON.stringify(self)))) return undefined
  // If this process slept between looking and claiming, its number may have been used and removed already.
  if ((await highestClaim(folder)) !== mine) {
    await rm(claimFile(folder, mine), { force: true })
    return undefined
  }
  await removeOldFiles(folder, mine, sign)
  return mine
}

/** The process that has PGlite open in a data folder, if there is one. */
export async function findHolder(
  host: Host,
  folder: string,
  number?: number,
): Promise<
  { readonly pid: number; readonly isHere: boolean; readonly sinceMs: number | undefined } | undefined
> {
  const file = claimFile(folder, number ?? (await highestClaim(folder)))
  const holder = parseHolder((await readFile(file, "utf8").catch(absentOn("ENOENT"))) ?? "{}")
  if (holder === undefined) return undefined
  const { pid, mark, sign } = holder
  const isHere = mark !== undefined && (await processMark(host, pid)) === mark
  if (!isHere && !(sign !== undefined && (await seesSignOfLife(host, folder, sign)))) return undefined
  const sinceMs = await stat(file).then(({ mtimeMs }) => Math.floor(mtimeMs), absentOn("ENOENT"))
  return { pid, isHere, sinceMs }
}

async function refuseIfHeld(host: Host, folder: string, number: number): Promise<void> {
  const holder = await findHolder(host, folder, number)
  if (holder === undefined) return
  const { pid, isHere, sinceMs } = holder
  const since = sinceMs === undefined ? "" : ` since ${formatInstant(sinceMs)}`
  throw new CarillonError(
    "PGLITE_IN_USE",
    `The data folder ${folder} is in use by ${nameOf(host, pid, isHere)}${since}, and PGlite serves one ` +
      "process. Stop that one, choose another `dataDir`, " +
      'or let several processes share a server: `database: "postgres://..."`.',
  )
}

function nameOf(host: Host, pid: number, isHere: boolean): string {
  if (!isHere) return `process ${pid} of another container`
  return pid === host.facts.pid ? `this process (${pid}) itself` : `process ${pid}`
}

/** Creates the number if it is still free. Writes a draft first, so that no process reads half a claim. */
async function createClaim(host: Host, folder: string, number: number, holder: string): Promise<boolean> {
  const draft = draftFile(host, folder, number)
  await writeFile(draft, holder, { flag: "wx", mode: 0o644 })
  try {
    await link(draft, claimFile(folder, number))
    return true
  } catch (error) {
    // EEXIST: another process took the number. ENOENT: it also removed our draft.
    if (errorCode(error) === "EEXIST" || errorCode(error) === "ENOENT") return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Empties it, which needs no space on a full disk. If the folder was deleted, there is nothing to release. */
async function releaseClaim(folder: string, number: number): Promise<void> {
  await truncate(claimFile(folder, number)).catch(absentOn("ENOENT"))
}

/** Keeps the previous claim too, so that a listing taken right now still contains a number. */
async function removeOldFiles(folder: string, mine: number, sign: SignOfLife | undefined): Promise<void> {
  const kept = [claimFile("", mine), claimFile("", mine - 1), `pglite-${sign?.id}${SIGN_SUFFIX}`]
  const old = (await readdir(folder)).filter(
    (name) =>
      (name.startsWith("pglite-owner-") || (name.startsWith("pglite-") && name.endsWith(SIGN_SUFFIX))) &&
      !kept.includes(name),
  )
  await Promise.all(old.map((name) => rm(join(folder, name), { force: true })))
}

async function highestClaim(folder: string): Promise<number> {
  const numbers = (await readdir(folder)).flatMap(
    (name) => /^pglite-owner-(\d+)\.json$/.exec(name)?.slice(1).map(Number) ?? [],
  )
  return Math.max(0, ...numbers)
}

function claimFile(folder: string, number: number): string {
  return join(folder, `pglite-owner-${number}.json`)
}

function draftFile(host: Host, folder: string, number: number): string {
  return `${claimFile(folder, number)}.new-${host.newId()}`
}

/** `undefined` if the claim was released or is damaged. Only a crash of the whole machine leaves half a file. */
function parseHolder(json: string): Holder | undefined {
  try {
    const value = JSON.parse(json) as Partial<Record<keyof Holder, unknown>> | null
    if (typeof value?.pid !== "number") return undefined
    const text = (part: unknown) => (typeof part === "string" ? part : undefined)
    return { pid: value.pid, mark: text(value.mark), sign: text(value.sign) }
  } catch {
    return undefined
  }
}

function cannotLock(folder: string): CarillonError {
  return new CarillonError(
    "PGLITE_FAILED",
    `The data folder ${folder} cannot be locked: this system does not say when a process began, and there can be no ` +
      "sockets in that folder. Choose a `dataDir` with a shorter path on a local disk.",
  )
}
