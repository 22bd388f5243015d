/** The file that the server writes its messages to. */
import { constants } from "node:fs"
import { appendFile, type FileHandle, open, readFile, rename, stat } from "node:fs/promises"
import type { DataFolder } from "./data-folder.ts"
import { absentOn } from "./failure.ts"

const LARGEST_BYTES = 10 * 2 ** 20
/** Root must not follow a link in the folder of another user and write elsewhere. */
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW

/** Opens it for appending. Renames a large log first; the previous old one is replaced. */
export async function openLog(folder: DataFolder): Promise<FileHandle> {
  const found = await stat(folder.log).catch(absentOn("ENOENT"))
  if (found && found.size > LARGEST_BYTES) await rename(folder.log, `${folder.log}.old`)
  const handle = await open(folder.log, FLAGS, 0o600)
  if (folder.account) await handle.chown(folder.account.uid, folder.account.gid)
  return handle
}

/** Adds a line of ours between those of the server. A log that cannot be written stops nothing. */
export async function noteInLog(log: string, line: string): Promise<void> {
  await appendFile(log, `carillon: ${line}\n`, { flag: FLAGS }).catch(() => {})
}

/** The current length. What follows belongs to the next start. */
export async function logSize(log: string): Promise<number> {
  return (await stat(log).catch(absentOn("ENOENT")))?.size ?? 0
}

/** The last lines since then. */
export async function lastLines(log: string, count: number, since: number): Promise<string> {
  const bytes = await readFile(log).catch(() => new Uint8Array())
  // The log was renamed in the meantime, so all of it is new.
  const text = new TextDecoder().decode(bytes.subarray(since <= bytes.length ? since : 0))
  return text.trimEnd().split("\n").slice(-count).join("\n")
}
