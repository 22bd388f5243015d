/** A clock that a row can set: libfaketime between a process and the system, which reads the time from a file. */
import { execFileSync } from "node:child_process"
import { existsSync, renameSync, writeFileSync } from "node:fs"

export interface Clock {
  /** Says what time it is. */
  readonly file: string
  /** For a process under this clock. Its monotonic clock stays as it is, as on a machine whose clock is set. */
  readonly env: Readonly<Record<string, string>>
  /** From now on it is ahead of the true time by so much; behind it if that is negative. */
  readonly set: (aheadMs: number) => void
  readonly aheadMs: () => number
  /** Everything that was ever set. */
  readonly steps: readonly ClockStep[]
}

export interface ClockStep {
  readonly trueMs: number
  readonly aheadMs: number
}

/** The one for processes with several threads also serves those with one. */
const LIBRARY = "libfaketimeMT.so.1"
const HOMES = [
  "/usr/lib/x86_64-linux-gnu/faketime",
  "/usr/lib/aarch64-linux-gnu/faketime",
  "/usr/lib64/faketime",
  "/usr/lib/faketime",
  "/usr/local/lib/faketime",
]
const INSTALL_MS = 120_000

const isThere = () => HOMES.map((home) => `${home}/${LIBRARY}`).find((path) => existsSync(path))
let sought: { readonly library: string | undefined } | undefined

/** Where it is; installed by the system's packages where that can be done. */
function library(): string | undefined {
  sought ??= { library: isThere() ?? installed() }
  return sought.library
}

function installed(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined
  try {
    const options = { stdio: "ignore", timeout: INSTALL_MS } as const
    execFileSync("apt-get", ["install", "-y", "libfaketime"], options)
  } catch {
    return undefined
  }
  return isThere()
}

export function lacksFaketime(): string | undefined {
  return library() === undefined ? "libfaketime" : undefined
}

export function createClock(file: string): Clock {
  const path = library()
  if (path === undefined) throw new Error("there is no libfaketime here")
  const steps: ClockStep[] = []
  const set = (aheadMs: number) => {
    // A reader gets the whole of the old file or the whole of the new.
    writeFileSync(`${file}.new`, `${aheadMs < 0 ? "-" : "+"}${Math.abs(aheadMs) / 1_000}\n`)
    renameSync(`${file}.new`, file)
    steps.push({ trueMs: Date.now(), aheadMs })
  }
  set(0)
  return {
    file,
    env: {
      LD_PRELOAD: path,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    set,
    aheadMs: () => steps.at(-1)?.aheadMs ?? 0,
    steps,
  }
}
