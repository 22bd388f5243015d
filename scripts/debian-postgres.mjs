/** Debian's PostgreSQL as a folder of binaries. It is built with LLVM, and JIT is on as it comes. */
import { existsSync } from "node:fs"
import { chmod, mkdir, mkdtemp, readdir, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const INSTALLED = "/usr/lib/postgresql"

/** The newest installed version with JIT. Later versions than 17 package it separately. */
export async function debianVersion() {
  const versions = await readdir(INSTALLED).catch(() => [])
  return versions
    .filter(
      (version) => version >= "14" && version <= "17" && existsSync(`${INSTALLED}/${version}/lib/llvmjit.so`),
    )
    .sort()
    .at(-1)
}

/** Links the files of a version to where the embedded server looks for them. */
export async function linkDebian(version) {
  const folder = await mkdtemp(join(tmpdir(), "carillon-debian-"))
  // As root the server runs as an unprivileged user, who must be able to read this folder.
  await chmod(folder, 0o755)
  await mkdir(join(folder, "share"), { mode: 0o755 })
  await symlink(`${INSTALLED}/${version}/bin`, join(folder, "bin"))
  await symlink(`${INSTALLED}/${version}/lib`, join(folder, "lib"))
  await symlink(`/usr/share/postgresql/${version}`, join(folder, "share/postgresql"))
  return folder
}
