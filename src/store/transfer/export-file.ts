/**
 * Writes the file of an export. It gets its name only once it is complete, and replaces another file only with `force`.
 */
import { link, open, rename, rm, stat } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { type Frame, writeFrames } from "./frames.ts"

export interface ExportTarget {
  readonly file: string
  /** Replaces a file of that name. */
  readonly force: boolean
}

/** The file holds the input of every run. */
const OWNER_ONLY = 0o600

/** Writes the frames to a file beside `file`, flushes it to disk, and then renames it. Returns its size in bytes. */
export async function writeExportFile(
  host: Host,
  target: ExportTarget,
  frames: AsyncIterable<Frame>,
): Promise<number> {
  const unfinished = `${target.file}.${host.newId()}.unfinished`
  try {
    // Opened here, before anything can fail: a stream that opens its file itself may do so after `rm` found none.
    const handle = await open(unfinished, "wx", OWNER_ONLY)
    // Flushed before it is closed: once the name is visible, the user may delete the source of the data.
    await pipeline(writeFrames(frames), createGzip(), handle.createWriteStream({ flush: true }))
    const { size } = await stat(unfinished)
    await giveName(unfinished, target)
    return size
  } catch (error) {
    await rm(unfinished, { force: true })
    throw isOfFiles(error) ? unwritable(target.file, error) : error
  }
}

/** Checked before an hour of work, not after it. */
export async function assertFree({ file, force }: ExportTarget): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (found?.isDirectory()) throw refused(`${file} is a folder. Give the name of a file in it.`)
  if (found && !force) throw taken(file)
}

/** A hard link is the only way to a name that fails if the name is taken. Without hard links a check must do. */
async function giveName(unfinished: string, { file, force }: ExportTarget): Promise<void> {
  if (!force) {
    try {
      await link(unfinished, file)
      return await rm(unfinished)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") throw taken(file)
      await assertFree({ file, force })
    }
  }
  await rename(unfinished, file)
}

function isOfFiles(error: unknown): boolean {
  return !(error instanceof CarillonError) && (error as NodeJS.ErrnoException).syscall !== undefined
}

function unwritable(file: string, cause: unknown): CarillonError {
  const detail = cause instanceof Error ? cause.message : String(cause)
  return new CarillonError("EXPORT_REFUSED", `${file} cannot be written: ${detail}`, { cause })
}

function taken(file: string): CarillonError {
  return refused(`${file} is already there. Choose another name, or replace it with --force.`)
}

function refused(message: string): CarillonError {
  return new CarillonError("EXPORT_REFUSED", message)
}
