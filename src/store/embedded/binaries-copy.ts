/** Copies PostgreSQL's programs to a cache, if they cannot be completed or reached where they are. */
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { type Account, blockingFolder } from "./account.ts"
import { LINK_LIST, linkLibraries } from "./binaries-links.ts"
import { absentOn } from "./failure.ts"

/** The folder of a complete copy of `folder`, made now or earlier. */
export async function copyBinaries(host: Host, folder: string, account: Account): Promise<string> {
  const copy = join(await openCache(host, account), await fingerprint(folder))
  if (await lstat(copy).catch(absentOn("ENOENT"))) return copy
  const draft = `${copy}.new-${host.newId()}`
  try {
    await cp(folder, draft, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
    await openToAll(draft)
    await linkLibraries(draft)
    // Only a complete copy gets the name. If two processes copy at once, the slower one finds an equal copy there.
    await rename(draft, copy).catch(absentOn("ENOTEMPTY", "EEXIST"))
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return copy
}

/** Equal for equal binaries wherever they are installed, so projects share one copy. */
async function fingerprint(folder: string): Promise<string> {
  const hash = createHash("sha256")
  for (const file of ["bin/initdb", "bin/pg_ctl", "bin/postgres", LINK_LIST]) {
    hash.update((await readFile(join(folder, file)).catch(absentOn("ENOENT"))) ?? "")
  }
  return hash.digest("hex").slice(0, 16)
}

async function openCache(host: Host, account: Account): Promise<string> {
  const refusals: string[] = []
  for (const candidate of cacheFolders(host)) {
    const refusal = await makeCache(host, candidate, account).catch((error: unknown) => String(error))
    if (refusal === undefined) return candidate
    refusals.push(`${candidate}: ${refusal}`)
  }
  throw new CarillonError(
    "EMBEDDED_FAILED",
    "The PostgreSQL binaries cannot run from where they are installed, and there is no place for a copy:\n" +
      refusals.map((line) => `  ${line}\n`).join("") +
      "Make one of these folders writable, or install the project where every user may read it.",
  )
}

/** The system may empty the temporary folder at any time, so it comes last. */
function cacheFolders(host: Host): string[] {
  const { env, tempDir, uid } = host.facts
  const temporary = join(tempDir, `carillon-cache-${uid}`)
  if (uid === 0) return ["/var/cache/carillon", temporary]
  const { HOME, XDG_CACHE_HOME = HOME && join(HOME, ".cache") } = env
  return XDG_CACHE_HOME ? [join(XDG_CACHE_HOME, "carillon"), temporary] : [temporary]
}

/** Why `path` cannot be used; `undefined` if it can. Programs run from here, so no other user may write to it. */
async function makeCache(host: Host, path: string, account: Account): Promise<string | undefined> {
  const made = await mkdir(path, { recursive: true })
  if (made !== undefined) await chmod(path, 0o755)
  const found = await lstat(path)
  if (!found.isDirectory() || found.uid !== host.facts.uid) return `not a folder of user ${host.facts.uid}`
  if ((found.mode & 0o022) !== 0) return "others may write to it"
  const blocked = await blockingFolder(path, account)
  return blocked && `${blocked} is closed to user ${account?.uid}`
}

/** An installation with a strict umask leaves files that only their owner can read. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(path, 0o755)
    else if (entry.isFile()) await chmod(path, entry.parentPath.endsWith("bin") ? 0o755 : 0o644)
  }
}
