/**
 * Decides which process may start the server of a data folder: one at a time, and after its death the next.
 *
 * The lock is a file start-<n>.json; the highest number counts. To take it is to create the next number, which the file
 * system grants to one process only. A file that named the holder in place would have to be removed when the holder is
 * dead, and of two processes that find it dead, the slower one would remove the lock of the faster. For the same reason
 * the highest file stays after `release`, emptied.
 */
import { link, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Host } from "../../runtime/host.ts"
import { absentOn, errorCode } from "./failure.ts"
import { isLive, type Marked, markOfThis, parseMarked } from "./processes.ts"

export interface StartLock {
  readonly release: () => Promise<void>
}

/** The lock, or who holds it; `undefined` when another process was faster just now. */
export async function takeStartLock(host: Host, folder: string): Promise<StartLock | Marked | undefined> {
  const latest = Math.max(0, ...(await lockNumbers(folder)))
  const holder = parseMarked(
    (await readFile(lockFile(folder, latest), "utf8").catch(absentOn("ENOENT"))) ?? "",
  )
  if (holder && (await isLive(host, holder))) return holder
  const mine = latest + 1
  if (!(await createLock(host, folder, mine))) return undefined
  // Whoever slept since the listing may have got a number that was used up and tidied away meanwhile.
  if (Math.max(...(await lockNumbers(folder))) !== mine) {
    await rm(lockFile(folder, mine), { force: true })
    return undefined
  }
  await removeOldLocks(folder, mine)
  return { release: () => releaseLock(host, folder, mine) }
}

/** Whether the number was still free. Written aside first: no one ever reads half a file. */
async function createLock(host: Host, folder: string, number: number): Promise<boolean> {
  const draft = draftFile(host, folder, number)
  await writeFile(draft, JSON.stringify(await markOfThis(host)), { flag: "wx", mode: 0o644 })
  try {
    await link(draft, lockFile(folder, number))
    return true
  } catch (error) {
    // EEXIST: another process took the number. ENOENT: it even tidied up, our draft included.
    if (errorCode(error) === "EEXIST" || errorCode(error) === "ENOENT") return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Nothing is left to release when somebody has deleted the folder. */
async function releaseLock(host: Host, folder: string, number: number): Promise<void> {
  const draft = draftFile(host, folder, number)
  await writeFile(draft, "{}", { flag: "wx", mode: 0o644 })
    .then(() => rename(draft, lockFile(folder, number)))
    .catch(absentOn("ENOENT"))
}

/** The lock before ours stays too: a listing taken at this very moment still ends in a number. */
async function removeOldLocks(folder: string, mine: number): Promise<void> {
  const kept = [lockFile("", mine), lockFile("", mine - 1)]
  const names = (await readdir(folder)).filter((name) => name.startsWith("start-") && !kept.includes(name))
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })))
}

async function lockNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder)
  return names.flatMap((name) => /^start-(\d+)\.json$/.exec(name)?.slice(1).map(Number) ?? [])
}

function lockFile(folder: string, number: number): string {
  return join(folder, `start-${number}.json`)
}

function draftFile(host: Host, folder: string, number: number): string {
  return `${lockFile(folder, number)}.new-${host.newId()}`
}
