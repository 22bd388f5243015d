/** The `Host` and `Terminal` of a real process: the only file that touches ambient time, chance and `process`. */
import { AsyncResource } from "node:async_hooks"
import { randomFillSync } from "node:crypto"
import { readFileSync, readlinkSync, writeSync } from "node:fs"
import { hostname, tmpdir, userInfo } from "node:os"
import { basename } from "node:path"
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks"
import { parentPort, Worker, workerData } from "node:worker_threads"
import type { Host, ProcessLoad, Thread, ThreadInside, ThreadOptions, Timer } from "./host.ts"
import { createIdSource } from "./id-source.ts"
import { createProcessProof } from "./process-proof.ts"
import type { Terminal } from "./terminal.ts"

/** The longest wait that a timer of the platform can hold. A longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export function createSystemHost(): Host {
  const origin = openContext()
  return {
    monotonicMs,
    sleep,
    after,
    every: (ms, run) => {
      const interval = setInterval(run, ms).unref()
      return { cancel: () => clearInterval(interval) }
    },
    soon: (run) => void setImmediate(run),
    newContext: () => {
      // One resource for each context: what code enters for good stays in the resource in which it was entered.
      const own = origin.runInAsyncScope(openContext)
      return (run) => own.runInAsyncScope(run)
    },
    random: () => Math.random(),
    randomBits: createBitSource(),
    newId: createIdSource(() => Date.now(), randomFillSync),
    crashPoint: () => {},
    exit: (code) => process.exit(code),
    print: (to, line) => {
      process[to === "out" ? "stdout" : "stderr"].write(`${line}\n`)
    },
    startThread,
    load: createLoadMeter(),
    processes: createProcessProof({
      platform: process.platform,
      hostname: hostname(),
      pid: process.pid,
      readText: (path) => readFileSync(path, "utf8"),
      readLink: (path) => readlinkSync(path),
      isUnknown,
    }),
    facts: {
      pid: process.pid,
      program: basename(process.argv[1] ?? process.execPath),
      hostname: hostname(),
      platform: process.platform,
      arch: process.arch,
      nodeVersion: process.versions.node,
      zoneData: process.versions["tz"] ?? "",
      user: userName(),
      uid: process.getuid?.(),
      isInteractive: process.stderr.isTTY === true,
      cwd: process.cwd(),
      tempDir: tmpdir(),
      env: process.env,
    },
  }
}

/** The measurement begins with the first call: most hosts of a test never ask. */
function createLoadMeter(): () => ProcessLoad {
  let histogram: IntervalHistogram | undefined
  return () => {
    const memoryBytes = process.memoryUsage.rss()
    const isFirst = histogram === undefined
    histogram ??= monitorEventLoopDelay({ resolution: METER_MS })
    const longestMs = histogram.max / 1e6
    if (isFirst) histogram.enable()
    else histogram.reset()
    return { memoryBytes, delayMs: isFirst ? null : Math.max(0, Math.round(longestMs - METER_MS)) }
  }
}

/** Delays are measured by a timer of this length. */
const METER_MS = 20

/** In a container the user may be a number without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? "unknown")
  }
}

/** Signal 0 only asks. A process that may not be signalled exists. */
function isUnknown(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as { code?: unknown }).code === "ESRCH"
  }
}

/** Keeps the current async context. An observer of async resources sees its end when it is collected. */
function openContext(): AsyncResource {
  return new AsyncResource("carillon")
}

/** 64 random bits at a time, drawn in advance: a single draw takes as long as five hundred. */
function createBitSource(): () => bigint {
  const drawn = new BigInt64Array(512)
  let used = drawn.length
  return () => {
    if (used === drawn.length) {
      randomFillSync(drawn)
      used = 0
    }
    used += 1
    return drawn[used - 1] ?? 0n
  }
}

/** The thread that loaded this module, if it is one. */
export function createSystemThreadInside(): ThreadInside | undefined {
  const port = parentPort
  if (port === null) return undefined
  return {
    host: { ...createSystemHost(), print: printAtOnce },
    data: workerData,
    send: (message) => port.postMessage(message),
    onMessage: (handler) => {
      port.on("message", handler)
    },
    leave: () => port.close(),
  }
}

/** This machine's wall clock and time zone. Only for output to people; no decision uses it. */
export const wallClock = {
  nowMs: (): number => Date.now(),
  timeZone: (): string => Intl.DateTimeFormat().resolvedOptions().timeZone,
} as const

export function createSystemTerminal(): Terminal {
  return {
    args: process.argv.slice(2),
    print: (line) => process.stdout.write(`${line}\n`),
    printError: (line) => process.stderr.write(`${line}\n`),
    onInterrupt: (handler) => {
      process.on("SIGINT", handler)
      process.on("SIGTERM", handler)
      // The reader is gone, as behind `
      // head`, so no output is needed any more.
      process.stdout.on("error", handler)
    },
    setExitCode: (code) => {
      process.exitCode = code
    },
  }
}

/**
 * Makes `performance.now()` the same in all threads: it starts at zero in each. Both read the same clock of the
 * platform, but this one allocates no array for each call.
 */
const SINCE_BOOT_MS = sinceBootMs() - performance.now()

function sinceBootMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1_000_000
}

function monotonicMs(): number {
  return SINCE_BOOT_MS + performance.now()
}

/** The main loop writes a thread's `process.stderr`, and the main loop may be blocked. */
function printAtOnce(to: "out" | "err", line: string): void {
  try {
    writeSync(to === "out" ? 1 : 2, `${line}\n`)
  } catch {
    // No reader, or one that is too slow. There is no other way to report it.
  }
}

function startThread({ name, module, data, onMessage, onEnd }: ThreadOptions): Thread | undefined {
  // Only tests run sources that are not compiled, and a thread of Node 20 cannot run them.
  if (module.pathname.endsWith(".ts")) return undefined
  // Without flags and NODE_OPTIONS: a debugger, a profiler or a preloaded module is meant for the program.
  const { NODE_OPTIONS: _, ...env } = process.env
  const worker = new Worker(module, { name, workerData: data, execArgv: [], env })
  let cause: unknown
  worker.on("message", onMessage)
  worker.on("error", (error) => {
    cause = error
  })
  worker.once("exit", (code) => onEnd(cause ?? new Error(`exit code ${code}`)))
  worker.unref()
  return {
    send: (message) => worker.postMessage(message),
    kill: () => void worker.terminate(),
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      timer.cancel()
      signal?.removeEventListener("abort", end)
      resolve()
    }
    const timer = after(ms, end)
    signal?.addEventListener("abort", end, { once: true })
  })
}

function after(ms: number, run: () => void): Timer {
  let handle: NodeJS.Timeout
  const arm = (remainingMs: number) => {
    const stepMs = Math.min(remainingMs, LONGEST_TIMER_MS)
    handle = setTimeout(() => (remainingMs > stepMs ? arm(remainingMs - stepMs) : run()), stepMs)
  }
  arm(Math.max(0, ms))
  return { cancel: () => clearTimeout(handle) }
}
