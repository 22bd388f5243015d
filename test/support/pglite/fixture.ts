/** Folders, processes and hosts without binaries for the tests of PGlite on disk, all gone after each test. */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import { type Carillon, createCarillonOn } from "../../../src/api/carillon.ts"
import type { CarillonOptions } from "../../../src/api/options.ts"
import type { AttemptRecord } from "../../../src/index.ts"
import type { Host } from "../../../src/runtime/host.ts"
import { createSystemHost } from "../../../src/runtime/system.ts"
import { startProcess, type WorkerProcess } from "../process/worker-process.ts"

const cleanups: (() => Promise<unknown>)[] = []

/** Ends what the test has started, in reverse order. */
export async function cleanUp(): Promise<void> {
  for (const clean of cleanups.splice(0).reverse()) await clean()
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carillon-pglite-"))
  cleanups.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** A machine without PostgreSQL binaries for its processor. */
export function hostWithoutBinaries(): Host {
  const host = createSystemHost()
  return { ...host, facts: { ...host.facts, arch: "riscv64" } }
}

/** A Carillon of this process, with its log lines. */
export function newCarillon(options: CarillonOptions, host = hostWithoutBinaries()) {
  const lines: string[] = []
  const note = (level: string) => (line: string) => void lines.push(`${level}: ${line}`)
  const logger = { debug: () => {}, info: note("info"), warn: note("warn"), error: note("error") }
  const carillon: Carillon = createCarillonOn(host, { logger, ...options })
  cleanups.push(() => carillon.stop({ grace: 0 }))
  return { carillon, lines }
}

export interface DiskWorkerOptions {
  readonly dataDir: string
  /** The call to the file system at which the process dies, counted from 1. */
  readonly killAt?: number
  readonly slowMs?: number
}

/** Another process on PGlite in `dataDir`. What its handlers do is written to a file beside that folder. */
export function startDiskWorker(options: DiskWorkerOptions): WorkerProcess {
  const worker = startProcess({ ...options, effects: effectsOf(options.dataDir) }, "pglite-worker.mjs")
  cleanups.push(() => {
    worker.kill("SIGKILL")
    return worker.ended
  })
  return worker
}

/** Stops a worker in order, and returns how many calls to the file system it has made in its life. */
export async function stopDiskWorker(worker: WorkerProcess): Promise<number> {
  await worker.call("stop")
  worker.hangUp()
  return (await worker.until("calls"))["count"] as number
}

/** Every run has succeeded once, and each further execution has its cause in history. */
export async function expectEachOnce(worker: WorkerProcess, dataDir: string, runs: readonly string[]) {
  await Promise.all(runs.map((run) => worker.call("result", { run })))
  const effects = (await readFile(effectsOf(dataDir), "utf8")).trim().split("\n")
  for (const run of runs) {
    const attempts = await worker.call<AttemptRecord[]>("attempts", { run })
    expect(attempts.filter(({ runState }) => runState === "succeeded")).toHaveLength(1)
    const lost = attempts.filter(({ outcome }) => outcome === "lost").length
    const executions = effects.filter((line) => line.startsWith(run)).length
    expect(executions).toBeGreaterThanOrEqual(1)
    expect(executions).toBeLessThanOrEqual(1 + lost)
  }
}

function effectsOf(dataDir: string): string {
  return `${dataDir}.effects`
}

/** Numbers in [0, 1), the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}
