/** Finds or makes the data folder, and tells which engines have data in it. */
import { lstat, mkdir, readlink, realpath } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { DEFAULTS } from "../../defaults.ts"
import type { Host } from "../../runtime/host.ts"
import { hideFromGit } from "../embedded/data-folder.ts"
import { absentOn } from "../embedded/failure.ts"
import { pgliteFailed } from "./failure.ts"

/** The folder of PGlite inside the data folder, beside that of the embedded server. */
export const PGLITE = "pglite"
/** The cluster of the embedded server. It gets this name when it is complete. */
const POSTGRES = "postgres"

export interface Contents {
  readonly path: string
  readonly pglite: boolean
  readonly postgres: boolean
}

/** Only looks: the folder may not exist yet. */
export async function lookInto(host: Host, dataDir: string | undefined): Promise<Contents> {
  const path = resolve(host.facts.cwd, dataDir ?? DEFAULTS.dataDir)
  const holds = async (name: string) =>
    (await lstat(join(path, name)).catch(absentOn("ENOENT", "ENOTDIR"))) !== undefined
  try {
    return { path, pglite: await holds(PGLITE), postgres: await holds(POSTGRES) }
  } catch (error) {
    throw pgliteFailed(`The data folder ${path} could not be opened`, error)
  }
}

/** The real path of the folder. Makes it, readable by its owner alone, if it does not exist. */
export async function openDataFolder(host: Host, dataDir: string | undefined): Promise<string> {
  const wanted = resolve(host.facts.cwd, dataDir ?? DEFAULTS.dataDir)
  try {
    // A link is followed by hand, because `mkdir` fails if its target was deleted.
    const link = await readlink(wanted).catch(absentOn("ENOENT", "EINVAL"))
    const place = link === undefined ? wanted : resolve(dirname(wanted), link)
    const made = await mkdir(place, { recursive: true, mode: 0o700 })
    if (made !== undefined) await hideFromGit(place)
    return await realpath(place)
  } catch (error) {
    throw pgliteFailed(`The data folder ${wanted} could not be opened`, error)
  }
}
