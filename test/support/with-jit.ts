/**
 * Debian's PostgreSQL as a folder of binaries. It is built with LLVM, and compiles statements it holds for expensive.
 */
import { existsSync } from "node:fs"
import { chmod, mkdir, mkdtemp, readdir, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const INSTALLED = "/usr/lib/postgresql"

/** The newest installed version between 14 and 17, if any: later ones package JIT separately. */
export async function versionWithJit(): Promise<string | undefined> {
  const versions = await readdir(INSTALLED).catch(() => [])
  const wanted = versions.filter(
    (version) =>
      Number(version) >= 14 && Number(version) <= 17 && existsSync(`${INSTALLED}/${version}/lib/llvmjit.so`),
  )
  if (wanted.length > 0) return wanted.sort().at(-1)
  console.warn(
    "PostgreSQL with JIT is left out: there is none of Debian's here. As root: " +
      "`apt-get install --no-install-recommends postgresql`.",
  )
  return undefined
}

/** The programs find their files by themselves. */
export async function linkBinaries(version: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carillon-debian-"))
  // As root the server runs as an unprivileged user, who must be able to read this folder.
  await chmod(folder, 0o755)
  await mkdir(join(folder, "share"), { mode: 0o755 })
  await symlink(`${INSTALLED}/${version}/bin`, join(folder, "bin"))
  await symlink(`${INSTALLED}/${version}/lib`, join(folder, "lib"))
  await symlink(`/usr/share/postgresql/${version}`, join(folder, "share/postgresql"))
  return folder
}
