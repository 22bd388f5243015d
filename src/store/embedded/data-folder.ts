/** Finds or makes the folder of a server, in a place that the server's user can reach. */
import { createHash } from "node:crypto"
import { chmod, mkdir, readlink, realpath, rmdir, statfs, symlink, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { DEFAULTS } from "../../defaults.ts"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { type Account, blockingFolder, chooseAccount } from "./account.ts"
import { absentOn, embeddedFailed, errorCode } from "./failure.ts"
import { refuseNetworked } from "./file-system.ts"

export interface DataFolder {
  readonly path: string
  /** PGDATA. */
  readonly cluster: string
  readonly log: string
  readonly account: Account
  /** The folder did not exist before. */
  readonly made: boolean
}

/** Root's data goes here if no other user can enter the working directory, as in /root. */
const REACHABLE_HOME = "/var/lib/carillon"

export async function openDataFolder(host: Host, given: string | undefined): Promise<DataFolder> {
  const wanted = resolve(host.facts.cwd, given ?? DEFAULTS.dataDir)
  try {
    const folder = await openAt(host, wanted)
    const blocked = await blockingFolder(folder.path, folder.account)
    if (blocked === undefined) {
      if (folder.made) await hideFromGit(folder.path)
      return folder
    }
    if (given === undefined && (await giveWay(wanted))) return await openElsewhere(host, wanted)
    throw unreachable(folder, blocked)
  } catch (error) {
    throw embeddedFailed(`The data folder ${wanted} could not be opened`, error)
  }
}

async function openAt(host: Host, wanted: string): Promise<DataFolder> {
  // A link is followed by hand, because `mkdir` fails if its target was deleted.
  const link = await readlink(wanted).catch(absentOn("ENOENT", "EINVAL"))
  const place = link === undefined ? wanted : resolve(dirname(wanted), link)
  const made = await makeFolder(place, host.facts.uid === 0 ? 0o711 : 0o700)
  const path = await realpath(place)
  refuseNetworked(path, (await statfs(path)).type, host.facts.platform)
  const cluster = join(path, "postgres")
  const account = await chooseAccount(host, path, cluster)
  return { path, cluster, log: join(path, "server.log"), account, made }
}

/** Removes the default folder if it is empty. Existing data is never left behind. */
async function giveWay(wanted: string): Promise<boolean> {
  const done = await rmdir(wanted).then(() => true, absentOn("ENOTEMPTY", "EEXIST", "ENOTDIR"))
  return done === true
}

/** A link takes the place of the folder. It leads people to the data, and Carillon at the next start. */
async function openElsewhere(host: Host, wanted: string): Promise<DataFolder> {
  const name = createHash("sha256").update(wanted).digest("hex").slice(0, 12)
  await makeFolder(REACHABLE_HOME, 0o755)
  // Another process may have made it first.
  await symlink(join(REACHABLE_HOME, name), wanted).catch(absentOn("EEXIST"))
  return openAt(host, wanted)
}

/** Makes a folder with this mode, whatever the umask. Leaves an existing one as it is. Returns whether it made one. */
async function makeFolder(path: string, mode: number): Promise<boolean> {
  const made = await mkdir(path, { recursive: true }).catch(async (error: unknown) => {
    // Node reports this for a read-only file system. Without `recursive` it reports the real cause.
    if (errorCode(error) === "ENOENT") await mkdir(path)
    throw error
  })
  if (made !== undefined) await chmod(path, mode)
  return made !== undefined
}

/** Only in a folder that this process made: in any other it would hide files that are not ours. */
export async function hideFromGit(folder: string): Promise<void> {
  await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" }).catch(absentOn("EEXIST"))
}

function unreachable(folder: DataFolder, blocked: string): CarillonError {
  return new CarillonError(
    "EMBEDDED_FAILED",
    `PostgreSQL does not run as root, and user ${folder.account?.uid}, which it runs as instead, cannot reach ` +
      `the data folder ${folder.path}: ${blocked} is closed to it. Open it with \`chmod o+x ${blocked}\`, ` +
      "choose a `dataDir` outside of it, or start Carillon as an ordinary user.",
  )
}
