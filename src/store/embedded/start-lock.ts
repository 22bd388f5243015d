/**
 * Decides which process may start the server of a data folder: one at a time, and after its end the next.
 *
 * The lock is a named pipe start-<n>, and the highest number counts. Its holder keeps it open for reading. Another
 * process opens it for writing to find out whether the holder is alive: the system answers, however the holder ended,
 * and also across containers, where a pid means nothing. A process takes the lock by giving a pipe the next number;
 * the file system lets only one process do that. It releases the lock by closing the pipe, which needs no space on a
 * full disk.
 */
import { closeSync, constants, openSync } from "node:fs"
import { link, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import type { Host } from "../../runtime/host.ts"
import { errorCode } from "./failure.ts"
import { hasReader, makePipe } from "./pipe.ts"

export interface StartLock {
  readonly release: () => void
}

/** The lock, if it is free. */
export async function takeStartLock(host: Host, folder: string): Promise<StartLock | undefined> {
  const latest = Math.max(0, ...(await lockNumbers(folder)))
  if (hasReader(lockFile(folder, latest))) return undefined
  const draft = join(folder, `start-new-${host.newId()}`)
  const mine = lockFile(folder, latest + 1)
  await makePipe(host, draft)
  const held = openSync(draft, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  const release = () => closeSync(held)
  try {
    await link(draft, mine)
    // If this process slept since the listing, its number may have been used and removed already.
    const isNewest = Math.max(...(await lockNumbers(folder))) === latest + 1
    if (isNewest) await removeOldLocks(folder, latest + 1)
    else await rm(mine, { force: true })
    if (isNewest) return { release }
  } catch (error) {
    release()
    // EEXIST: another process took the number. ENOENT: it also removed our draft.
    if (errorCode(error) === "EEXIST" || errorCode(error) === "ENOENT") return undefined
    throw error
  } finally {
    await rm(draft, { force: true })
  }
  release()
  return undefined
}

/** Keeps the previous lock too, so that a listing taken right now still contains a number. */
async function removeOldLocks(folder: string, mine: number): Promise<void> {
  const numbers = (await lockNumbers(folder)).filter((number) => number < mine - 1)
  await Promise.all(numbers.map((number) => rm(lockFile(folder, number), { force: true })))
}

async function lockNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder)
  return names.flatMap((name) => /^start-(\d+)$/.exec(name)?.slice(1).map(Number) ?? [])
}

function lockFile(folder: string, number: number): string {
  return join(folder, `start-${number}`)
}
