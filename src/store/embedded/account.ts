/**
 * The operating-system user that the server runs as, and how far that user can reach.
 *
 * PostgreSQL refuses to run as root. So that containers, where everything is root, work without any
 * preparation, root starts the server as another user; everybody else starts it as themselves.
 */
import { stat } from "node:fs/promises"
import { dirname } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { absentOn } from "./failure.ts"

/** Another user to run as; `undefined` stands for ourselves. */
export type Account = { readonly uid: number; readonly gid: number } | undefined

/** A user that exists everywhere (initdb looks it up) and owns nothing: `nobody`; on macOS `daemon`. */
const UNPRIVILEGED: Readonly<Record<string, NonNullable<Account>>> = {
  linux: { uid: 65534, gid: 65534 },
  darwin: { uid: 1, gid: 1 },
}

/** Whoever owns the cluster must run it; before there is one, the owner of the folder it will be in. */
export async function chooseAccount(host: Host, folder: string, cluster: string): Promise<Account> {
  const owner = await stat(cluster).catch(absentOn("ENOENT"))
  if (host.facts.uid === 0) {
    const candidates = [owner, await stat(folder)]
    const found = candidates.find((candidate) => candidate !== undefined && candidate.uid !== 0)
    return found ? { uid: found.uid, gid: found.gid } : UNPRIVILEGED[host.facts.platform]
  }
  if (owner === undefined || owner.uid === host.facts.uid) return undefined
  throw new CarillonError(
    "EMBEDDED_FAILED",
    `${cluster} belongs to user ${owner.uid}, but this process runs as user ${host.facts.uid}. ` +
      "Start it as that user, give the whole data folder to this one with chown, or choose another `dataDir`.",
  )
}

/** The outermost folder on the way to and including `folder` that `account` may not pass through, if any. */
export async function blockingFolder(folder: string, account: Account): Promise<string | undefined> {
  if (account === undefined) return undefined
  for (const step of pathTo(folder)) {
    if (!(await mayUse(step, account, 0o1))) return step
  }
  return undefined
}

/** Whether `account` may do to `path` what `bits` say: read 4, write 2, execute or pass 1. */
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
