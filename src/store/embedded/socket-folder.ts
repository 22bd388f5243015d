/**
 * Makes the folder of the server's socket, which only the server's user (and root) can enter.
 *
 * Connections need no password: whoever can open the socket is the superuser. So this folder is the lock.
 */
import { createHash } from "node:crypto"
import { lchown, lstat, mkdir, readdir, realpath, rm } from "node:fs/promises"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { blockingFolder } from "./account.ts"
import type { DataFolder } from "./data-folder.ts"
import { absentOn } from "./failure.ts"

/** The system's limit for the whole path is 108 bytes on Linux and 104 on macOS. */
const LONGEST_PATH_BYTES = 100
const SOCKET_NAME_BYTES = "/.s.PGSQL.5432".length

export async function openSocketFolder(host: Host, folder: DataFolder): Promise<string> {
  const path = await choosePlace(host, folder)
  const { account } = folder
  await mkdir(path, { mode: 0o700 }).catch(absentOn("EEXIST"))
  // Not only when just made: an earlier start may have been killed between the two steps.
  if (account && (await lstat(path)).uid === host.facts.uid) await lchown(path, account.uid, account.gid)
  await checkPrivate(path, account?.uid ?? host.facts.uid)
  return path
}

/**
 * Removes what an earlier server and its guard have left, when both are gone. Among it is a file with the server's pid:
 * if another process has that number now, PostgreSQL would take it for a running server and refuse to start.
 */
export async function emptySocketFolder(path: string): Promise<void> {
  for (const name of await readdir(path)) await rm(join(path, name), { force: true })
}

async function choosePlace(host: Host, folder: DataFolder): Promise<string> {
  const beside = join(folder.path, "socket")
  if (fits(beside)) return beside
  const name = `carillon-${createHash("sha256").update(folder.path).digest("hex").slice(0, 12)}`
  for (const temporary of [host.facts.tempDir, "/tmp"]) {
    const home = await realpath(temporary)
    const reachable = (await blockingFolder(home, folder.account)) === undefined
    if (reachable && fits(join(home, name))) return join(home, name)
  }
  throw new CarillonError(
    "EMBEDDED_FAILED",
    `The path of the data folder ${folder.path} is too long for a socket, and so is that of the temporary ` +
      "folder. Choose a `dataDir` with a shorter path.",
  )
}

function fits(path: string): boolean {
  return new TextEncoder().encode(path).length + SOCKET_NAME_BYTES <= LONGEST_PATH_BYTES
}

/** In a temporary folder anybody may have made it before us. */
async function checkPrivate(path: string, uid: number | undefined): Promise<void> {
  const found = await lstat(path)
  if (found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0) return
  throw new CarillonError(
    "EMBEDDED_FAILED",
    `The socket folder ${path} must be a folder of user ${uid} with mode 0700, and is not. Remove it and start again.`,
  )
}
