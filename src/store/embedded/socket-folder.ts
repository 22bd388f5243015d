/**
 * Finds and makes the folder of the server's socket, which only the server's user and root can enter.
 *
 * Connections need no password: a user who can open the socket is the superuser. So this folder is the lock.
 */
import { createHash } from "node:crypto"
import { lchown, lstat, mkdir, readdir, rm, rmdir } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { type Account, blockingFolder } from "./account.ts"
import type { DataFolder } from "./data-folder.ts"
import { absentOn } from "./failure.ts"

/** The system's limit for the whole path is 108 bytes on Linux and 104 on macOS. */
const LONGEST_PATH_BYTES = 100
const SOCKET_NAME_BYTES = "/.s.PGSQL.5432".length

/** Makes the folder, or checks that it still belongs to no other user. */
export async function openSocketFolder(host: Host, { account }: DataFolder, path: string): Promise<void> {
  if (account) await makeFor(host, account, path)
  else await mkdir(path, { mode: 0o700 }).catch(absentOn("EEXIST"))
  await checkPrivate(path, account?.uid ?? host.facts.uid)
}

/** Changes its owner only if it was made just now, and never that of an existing folder. */
async function makeFor(host: Host, account: NonNullable<Account>, path: string): Promise<void> {
  // An earlier start may have been killed between the two steps. Then the folder is empty, and ours.
  const found = await lstat(path).catch(absentOn("ENOENT"))
  if (found?.isDirectory() && found.uid === host.facts.uid) await rmdir(path)
  else if (found) return
  await mkdir(path, { mode: 0o700 })
  await lchown(path, account.uid, account.gid)
}

/**
 * Removes what an earlier server and its guard left, when both are gone. One of the files holds the pid of the server:
 * if another process has that pid now, PostgreSQL would take it for a running server and refuse to start.
 */
export async function emptySocketFolder(path: string): Promise<void> {
  // A folder in it can only come from the server's user, and does no harm.
  for (const name of await readdir(path))
    await rm(join(path, name), { force: true }).catch(absentOn("ERR_FS_EISDIR"))
}

/** A folder in which a socket can be made, beside the data or among temporary files; `undefined` if there is none. */
export async function chooseSocketFolder(host: Host, folder: DataFolder): Promise<string | undefined> {
  const name = `carillon-${createHash("sha256").update(folder.path).digest("hex").slice(0, 12)}`
  const { tempDir } = host.facts
  // On macOS the temporary folder of a user has a long path, and TMPDIR may name a missing folder.
  const temporary = [...new Set([tempDir, "/tmp"])]
  const places = [join(folder.path, "socket"), ...temporary.map((place) => join(place, name))]
  for (const place of places) if (await takesSocket(host, folder, place)) return place
  return undefined
}

/** Tries it: some file systems have no sockets, and some folders are closed to the server's user. */
async function takesSocket(host: Host, folder: DataFolder, path: string): Promise<boolean> {
  if (!fits(path)) return false
  try {
    await openSocketFolder(host, folder, path)
    if ((await blockingFolder(path, folder.account)) !== undefined) return false
    const probe = join(path, "probe")
    await rm(probe, { force: true })
    await new Promise<void>((resolve, reject) => {
      const server = createServer()
      server.once("error", reject)
      server.listen(probe, () => server.close(() => resolve()))
    })
    return true
  } catch {
    return false
  }
}

function fits(path: string): boolean {
  return new TextEncoder().encode(path).length + SOCKET_NAME_BYTES <= LONGEST_PATH_BYTES
}

/** In a temporary folder any user may have made it first. */
async function checkPrivate(path: string, uid: number | undefined): Promise<void> {
  const found = await lstat(path)
  if (found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0) return
  throw new CarillonError(
    "EMBEDDED_FAILED",
    `The socket folder ${path} must be a folder of user ${uid} with mode 0700, and is not. Remove it and start again.`,
  )
}
