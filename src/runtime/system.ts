/** The `Host` and `Terminal` of a real process: the only file that touches ambient time, chance and `process`. */
import { AsyncResource } from "node:async_hooks"
import { randomFillSync } from "node:crypto"
import { readFileSync, readlinkSync, writeSync } from "node:fs"
import { hostname, tmpdir, userInfo } from "node:os"
import { basename } from "node:path"
import { parentPort, Worker, workerData } from "node:worker_threads"
import type { Host, Thread, ThreadInside, ThreadOptions, Timer } from "./host.ts"
import { createIdSource } from "./id-source.ts"
import { createProcessProof } from "./process-proof.ts"
import type { Terminal } from "./terminal.ts"

/** The longest wait that one timer of the platform can hold; a longer one would fire at once. */
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
      // One for each: what a handler enters for good stays in the resource that it was entered in.
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

/** A container may run as a number that no user database knows; then the platform has no name to give. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? "unknown")
  }
}

/** Signal 0 reaches no one: it only asks. One that may not be signalled is there. */
function isUnknown(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as { code?: unknown }).code === "ESRCH"
  }
}

/** Keeps the async context of this moment. Whoever watches async resources hears of its end when it is collected. */
function openContext(): AsyncResource {
  return new AsyncResource("carillon")
}

/** Sixty-four random bits at a time. Drawn in advance: each draw of its own would take as long as five hundred. */
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

/** The thread that this module was loaded in, if it was started as one. */
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

/** What this machine takes for the present, and for its zone. For what is shown to people; nothing is decided by it. */
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
      // Nobody reads any more, as behind `| head`: there is nothing left to do this for.
      process.stdout.on("error", handler)
    },
    setExitCode: (code) => {
      process.exitCode = code
    },
  }
}

/**
 * What `performance.now()` lacks to be alike in all threads: it begins anew in each. Both read the same clock of the
 * platform, but this one costs no array each time.
 */
const SINCE_BOOT_MS = sinceBootMs() - performance.now()

function sinceBootMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1_000_000
}

function monotonicMs(): number {
  return SINCE_BOOT_MS + performance.now()
}

/** A thread's `process.stderr` is written by the main loop, which may be the one that cannot go on. */
function printAtOnce(to: "out" | "err", line: string): void {
  try {
    writeSync(to === "out" ? 1 : 2, `${line}\n`)
  } catch {
    // Nobody reads, or nobody reads fast enough. There is no other way to say it.
  }
}

function startThread({ name, module, data, onMessage, onEnd }: ThreadOptions): Thread | undefined {
  // Only tests run sources that have not been compiled, and no thread of Node 20 can run them.
  if (module.pathname.endsWith(".ts")) return undefined
  // Flags and NODE_OPTIONS are left out: a debugger, a profiler or a preloaded module is meant for the program.
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
