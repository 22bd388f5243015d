/**
 * Makes the links between library names that an npm package cannot contain.
 *
 * The package lists them in pg-symlinks.json and makes them in an install script. pnpm, and npm with
 * `--ignore-scripts`, do not run the script. Without the links no program of PostgreSQL starts.
 */
import { lstat, readFile, symlink } from "node:fs/promises"
import { basename, join } from "node:path"
import { absentOn, errorCode } from "./failure.ts"

/** The list of the links, inside the folder with the binaries. */
export const LINK_LIST = "pg-symlinks.json"

/** Makes the missing links. Returns false if the folder cannot be written to. */
export async function linkLibraries(folder: string): Promise<boolean> {
  const list = await readFile(join(folder, LINK_LIST), "utf8").catch(absentOn("ENOENT"))
  const made = parseLinks(list ?? "[]").map(({ source, target }) =>
    // Both names are in the same folder, so the link survives if the folder is copied or moved.
    makeLink(basename(source), join(folder, insideFolder(target))),
  )
  return (await Promise.all(made)).every(Boolean)
}

/** Looks first: some systems report a read-only folder even if the name exists. */
async function makeLink(source: string, path: string): Promise<boolean> {
  if (await lstat(path).catch(absentOn("ENOENT"))) return true
  return symlink(source, path).then(
    () => true,
    (error: unknown) => errorCode(error) === "EEXIST",
  )
}

interface Link {
  readonly source: string
  readonly target: string
}

function parseLinks(json: string): Link[] {
  const list: unknown = JSON.parse(json)
  return Array.isArray(list) ? list.filter(isLink) : []
}

function isLink(value: unknown): value is Link {
  if (typeof value !== "object" || value === null) return false
  return (
    "source" in value &&
    typeof value.source === "string" &&
    "target" in value &&
    typeof value.target === "string"
  )
}

/** The list has paths from the root of the package, such as `native/lib/libpq.so`. */
function insideFolder(path: string): string {
  return path.replace(/^native\//, "")
}
