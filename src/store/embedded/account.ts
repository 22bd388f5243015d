/**
 * The operating-system user that the server runs as, and which paths that user can reach.
 *
 * PostgreSQL refuses to run as root. In a container everything is root, so root starts the server as another user.
 * Every other user starts it as itself.
 */
import { lstat, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { absentOn } from "./failure.ts"

/** Another user to run as; `undefined` for the user of this process. */
export type Account = { readonly uid: number; readonly gid: number } | undefined

/** A user that exists everywhere (initdb looks it up) and owns nothing: `nobody`, on macOS `daemon`. */
const UNPRIVILEGED: Readonly<Record<string, NonNullable<Account>>> = {
  linux: { uid: 65534, gid: 65534 },
  darwin: { uid: 1, gid: 1 },
}

/**
 * The owner of the cluster has to run it. Root works only in folders of root: in another user's folder, that user
 * could plant links where root writes, removes files and changes their owner.
 */
export async function chooseAccount(host: Host, folder: string, cluster: string): Promise<Account> {
  const found = await lstat(cluster).catch(absentOn("ENOENT"))
  if (found && !found.isDirectory()) throw refused(`${cluster} is not a folder. Move it away.`)
  if (host.facts.uid === 0) {
    await assertOwn(folder)
    if (found && found.uid !== 0) return { uid: found.uid, gid: found.gid }
    return UNPRIVILEGED[host.facts.platform]
  }
  if (found === undefined || found.uid === host.facts.uid) return undefined
  throw refused(
    `${cluster} belongs to user ${found.uid}, but this process runs as user ${host.facts.uid}. ` +
      "Start it as that user, give the whole data folder to this one with chown, or choose another `dataDir`.",
  )
}

async function assertOwn(folder: string): Promise<void> {
  const { uid, mode } = await stat(folder)
  if (uid !== 0) {
    throw refused(
      `The data folder ${folder} belongs to user ${uid}, and root does not work in the folders of others. Start ` +
        `Carillon as that user, make the folder root's with \`chown root ${folder}\`, or choose another \`dataDir\`.`,
    )
  }
  if ((mode & 0o022) !== 0)
    throw refused(`Others may write to the data folder ${folder}. Forbid it with \`chmod go-w ${folder}\`.`)
}

function refused(message: string): CarillonError {
  return new CarillonError("EMBEDDED_FAILED", message)
}

/**
 * The outermost folder on the way to `folder`, or `folder` itself, that `account` may not enter; `undefined` if none.
 */
export async function blockingFolder(folder: string, account: Account): Promise<string | undefined> {
  if (account === undefined) return undefined
  for (const step of pathTo(folder)) {
    if (!(await mayUse(step, account, 0o1))) return step
  }
  return undefined
}

/** May `account` do to `path` what `bits` say? Read is 4, write 2, execute or enter 1. */
export async function mayUse(path: string, account: NonNullable<Account>, bits: number): Promise<boolean> {
  const { uid, gid, mode } = await stat(path)
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

/** "/a/b" gives "/", "/a", "/a/b". */
function pathTo(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [...pathTo(parent), folder]
}
