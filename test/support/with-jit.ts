/** Debian's PostgreSQL, which is built with LLVM and compiles statements that it considers expensive. */
import { debianVersion } from "../../scripts/debian-postgres.mjs"

/** The newest installed version with JIT, if any. */
export async function versionWithJit(): Promise<string | undefined> {
  const version = await debianVersion()
  if (version === undefined) {
    console.warn(
      "PostgreSQL with JIT is left out: there is none of Debian's here. As root: " +
        "`apt-get install --no-install-recommends postgresql`.",
    )
  }
  return version
}
