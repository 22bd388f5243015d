/** Makes sure that the data folder holds a complete cluster of the version that the binaries can run. */

import { constants } from "node:fs"
import { lchown, lstat, mkdir, open, readdir, rename, rm, rmdir } from "node:fs/promises"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import type { Binaries } from "./binaries.ts"
import type { DataFolder } from "./data-folder.ts"
import { absentOn } from "./failure.ts"
import { DATABASE, USER } from "./settings.ts"
import { runTool } from "./tool.ts"

export async function ensureCluster(host: Host, folder: DataFolder, binaries: Binaries): Promise<void> {
  await removeDrafts(host, folder)
  if ((await lstat(folder.cluster).catch(absentOn("ENOENT"))) === undefined) {
    await createCluster(host, folder, binaries)
  } else {
    await checkVersion(folder, binaries)
  }
}

/** Created under another name until it is complete. A start that is killed half-way leaves nothing that counts. */
async function createCluster(host: Host, folder: DataFolder, binaries: Binaries): Promise<void> {
  const draft = `${folder.cluster}.new-${host.newId()}`
  await mkdir(draft, { mode: 0o700 })
  if (folder.account) await lchown(draft, folder.account.uid, folder.account.gid)
  const how = { cwd: folder.path, account: folder.account }
  await runTool(host, binaries.initdb, initdbArguments(draft), how)
  // Also creates the database before the cluster gets its name.
  const single = ["--single", "-D", draft, "-c", "exit_on_error=on", "template1"]
  await runTool(host, binaries.postgres, single, { ...how, input: `create database ${DATABASE};\n` })
  await rename(draft, folder.cluster)
  await syncFolder(folder.path)
}

/** In single-user mode, so that no connection has to be allowed without a password. */
export async function changePassword(
  host: Host,
  change: { readonly folder: DataFolder; readonly binaries: Binaries; readonly password: string },
): Promise<void> {
  const { folder, binaries, password } = change
  const single = ["--single", "-D", folder.cluster, "-c", "exit_on_error=on", DATABASE]
  const input = `alter role ${USER} password '${password}';\n`
  await runTool(host, binaries.postgres, single, { cwd: folder.path, account: folder.account, input })
}

function initdbArguments(cluster: string): string[] {
  return [
    ...["-D", cluster, `--username=${USER}`, "--auth=trust"],
    ...["--encoding=UTF8", "--locale=C", "--data-checksums", "--no-instructions"],
  ]
}

/** Without this sync, a power failure could undo the rename, and with it everything that was committed since. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** An initdb whose owner was killed may still write for a moment. The next start removes what it leaves. */
async function removeDrafts(host: Host, folder: DataFolder): Promise<void> {
  const names = (await readdir(folder.path)).filter((name) => name.startsWith("postgres.new-"))
  for (const draft of names.map((name) => join(folder.path, name))) {
    // As the user that owns it: root would follow links that were planted in the meantime.
    const { path: cwd, account } = folder
    if (account) await runTool(host, "/bin/rm", ["-rf", "--", draft], { cwd, account }).catch(() => {})
    else await rm(draft, { recursive: true, force: true }).catch(absentOn("ENOTEMPTY"))
    await rmdir(draft).catch(absentOn("ENOENT", "ENOTEMPTY"))
  }
}

/** `undefined` if there is no valid one. The cluster belongs to the server's user, so the file is not trusted. */
export async function readVersion(cluster: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(join(cluster, "PG_VERSION"), flags).catch(absentOn("ENOENT", "ENOTDIR", "ELOOP"))
  if (file === undefined) return undefined
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(16), 0, 16, 0)
    return /^(\d+(?:\.\d+)?)\n?$/.exec(new TextDecoder().decode(buffer.subarray(0, bytesRead)))?.[1]
  } finally {
    await file.close()
  }
}

async function checkVersion(folder: DataFolder, binaries: Binaries): Promise<void> {
  const version = await readVersion(folder.cluster)
  if (version === binaries.major) return
  throw new CarillonError(
    "EMBEDDED_FAILED",
    version === undefined
      ? `${folder.cluster} is not a data folder of PostgreSQL: PG_VERSION is missing or makes no sense. ` +
          "Restore a backup or an export (`carillon db import`), or move it away to begin anew."
      : `The data in ${folder.cluster} was written by PostgreSQL ${version}, but the installed binaries ` +
          `are PostgreSQL ${binaries.major}. With the Carillon that wrote it, run ` +
          `\`carillon db export FILE --data-dir ${folder.path}\`; then, with this one, ` +
          "`carillon db import FILE --data-dir` with a new folder. Or choose another `dataDir` to begin anew.",
  )
}
