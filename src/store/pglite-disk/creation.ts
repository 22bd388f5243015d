/** Makes sure that the data folder holds a complete PGlite, even if an earlier start was killed. */
import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { absentOn } from "../embedded/failure.ts"
import { createPglite } from "../pglite.ts"
import { PGLITE } from "./data-folder.ts"

/** Returns its path. Only the owner of the folder may call this. */
export async function ensurePglite(host: Host, folder: string): Promise<string> {
  await removeDrafts(folder)
  const place = join(folder, PGLITE)
  if (!(await isThere(place))) await create(host, place)
  // PGlite would take a folder without this file for an empty one, and would overwrite it.
  else if (!(await isThere(join(place, "PG_VERSION")))) throw notPglite(place)
  return place
}

/** Created under another name until it is complete: PGlite copies a thousand files, and starts with any subset. */
async function create(host: Host, place: string): Promise<void> {
  const draft = `${place}.new-${host.newId()}`
  // Every user who reaches its files could read and write them.
  await mkdir(draft, { mode: 0o700 })
  const pglite = await createPglite(draft)
  await pglite.close()
  await rename(draft, place)
}

async function removeDrafts(folder: string): Promise<void> {
  const drafts = (await readdir(folder)).filter((name) => name.startsWith(`${PGLITE}.new-`))
  await Promise.all(drafts.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(absentOn("ENOENT"))) !== undefined
}

function notPglite(place: string): CarillonError {
  return new CarillonError(
    "PGLITE_FAILED",
    `${place} does not hold the data of PGlite: PG_VERSION is missing. ` +
      "Restore it from a backup, or move it away to begin anew.",
  )
}
