/** Any process may be killed at any moment of the first start: the next one succeeds, and nothing is left over. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as moment } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { hasReader } from "../../src/store/embedded/pipe.ts"
import * as given from "../support/embedded/fixture.ts"

const FIRST_RUN = fileURLToPath(new URL("../support/embedded/first-run.mjs", import.meta.url))
const MOMENTS = 50
/** How much longer the next start may take than a plain one: less than any timeout. */
const PATIENCE_MS = 10_000
/** How many tests run at the same time, and share the processors. */
const AT_ONCE = 5

afterAll(given.cleanUp, 120_000)

function firstRun(
  dataDir: string,
): ChildProcess & { said: Promise<{ executed?: number; message?: string }> } {
  const child = spawn(process.execPath, [FIRST_RUN, dataDir], { stdio: ["pipe", "pipe", "inherit"] })
  given.afterThisTest(() => given.endProcess(child, "SIGKILL"))
  const said = once(createInterface({ input: child.stdout }), "line").then(([line]) => JSON.parse(line))
  return Object.assign(child, { said })
}

/** Every process of a data folder: its owners, its guards, initdb, and the server. */
function familyOf(dataDir: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  return pids.filter((pid) => isOf(pid, dataDir)).map(Number)
}

function isOf(pid: string, dataDir: string): boolean {
  try {
    const [command, folder] = [readFileSync(`/proc/${pid}/cmdline`, "utf8"), readlinkSync(`/proc/${pid}/cwd`)]
    return command.includes(dataDir) || folder.startsWith(dataDir)
  } catch {
    return false
  }
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It has ended by itself.
    }
  }
}

/** The servers on a cluster: those among its processes whose parents are not servers on it. */
function serversOn(dataDir: string): number[] {
  const all = familyOf(dataDir).filter((pid) => nameOf(pid) === "postgres")
  return all.filter((pid) => !all.includes(parentOf(pid)))
}

const statOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, "utf8")
const nameOf = (pid: number) => safely(() => /\((.*)\)/.exec(statOf(pid))?.[1] ?? "", "")
const parentOf = (pid: number) => safely(() => Number(statOf(pid).split(") ")[1]?.split(" ")[1]), 0)

function safely<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

/** Fixed random numbers: a moment that once failed fails again. */
function chance(seed: number): number {
  const mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ (seed << 13)
  return (Math.imul(mixed ^ (mixed >>> 16), 0xc2b2ae35) >>> 0) / 2 ** 32
}

describe.skipIf(process.platform !== "linux")("a first start", () => {
  let wholeMs = 0

  beforeAll(async () => {
    const began = performance.now()
    const child = firstRun(join(await given.newFolder(), "data"))
    expect(await child.said).toMatchObject({ executed: child.pid })
    wholeMs = performance.now() - began
    child.stdin?.end()
    await once(child, "exit")
  }, 60_000)

  const kinds = ["its process", "its process, with its guard and its tools", "everything at once"] as const

  it.concurrent.each(
    Array.from({ length: MOMENTS }, (_, seed) => ({ seed, kind: kinds[seed % 3] ?? kinds[0] })),
  )(
    "survives that $kind is killed, at moment $seed",
    async ({ seed, kind }) => {
      const dataDir = join(await given.newFolder(), "data")
      const first = firstRun(dataDir)
      first.said.catch(() => {})
      await moment(chance(seed) * wholeMs * 1.1)
      const family = familyOf(dataDir).filter((pid) => kind !== kinds[1] || nameOf(pid) !== "postgres")
      killAll(kind === kinds[0] ? [first.pid ?? 0] : family)
      await given.endProcess(first, "SIGKILL")

      const next = firstRun(dataDir)
      const late = moment(PATIENCE_MS + AT_ONCE * wholeMs).then(() => "too late")
      const executed = await Promise.race([next.said, late])
      expect(executed).toEqual({ executed: next.pid })
      expect(serversOn(dataDir)).toEqual([given.serverPid(dataDir)])
      next.stdin?.end()
      await once(next, "exit")

      expect(serversOn(dataDir)).toEqual([])
      expect(existsSync(join(dataDir, "postgres/postmaster.pid"))).toBe(false)
      expect(await readdir(join(dataDir, "socket"))).toEqual([])
      const names = await readdir(dataDir)
      expect(names.filter((name) => name.startsWith("owner-"))).toEqual([])
      const locks = names.filter((name) => name.startsWith("start-")).map((name) => join(dataDir, name))
      expect(locks.filter((lock) => hasReader(lock))).toEqual([])
    },
    60_000,
  )
})
