/**
 * Makes the links between library names that an npm package cannot hold.
 *
 * The package lists them in pg-symlinks.json and makes them in an install script; pnpm, and npm with
 * `--ignore-scripts`, do not run it, and without the links no program of PostgreSQL starts.
 */
import { lstat, readFile, symlink } from "node:fs/promises"
import { basename, join } from "node:path"
import { absentOn, errorCode } from "./failure.ts"

/** The list of the links, inside the folder with the binaries. */
export const LINK_LIST = "pg-symlinks.json"

/** Whether all links are there now; `false` when the folder cannot be written to. */
export async function linkLibraries(folder: string): Promise<boolean> {
  const list = await readFile(join(folder, LINK_LIST), "utf8").catch(absentOn("ENOENT"))
  const made = parseLinks(list ?? "[]").map(({ source, target }) =>
    // Both are in the same folder, so that the link survives being copied or moved.
    makeLink(basename(source), join(folder, insideFolder(target))),
  )
  return (await Promise.all(made)).every(Boolean)
}

/** Looks first: some systems call a folder read-only before they notice that the name is taken. */
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

/** The list names files from the package's root, as in `native/lib/libpq.so`. */
function insideFolder(path: string): string {
  return path.replace(/^native\//, "")
}
