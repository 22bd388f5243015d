/** Starts and steers a real Carillon process: calls it, listens to its events, kills it. */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { CrashPoint } from "../../../src/runtime/crash-points.ts"

export interface WorkerOptions {
  readonly database: string
  readonly schema: string
  /** The file to which every execution appends a line: run, attempt, pid. */
  readonly effects: string
  readonly lease?: string
  readonly slowMs?: number
  readonly crashAt?: CrashPoint
}

export interface WorkerProcess {
  readonly pid: number
  /** Calls a function of the process and waits for its answer. */
  readonly call: <T>(name: string, args?: object) => Promise<T>
  /** The first event of this type that matches, past or future. */
  readonly until: (type: string, matches?: (event: Event) => boolean) => Promise<Event>
  /** Resolves when the process has written this to its stderr. */
  readonly printed: (text: string) => Promise<void>
  readonly kill: (signal: NodeJS.Signals) => void
  /** No more orders: a process with nothing left to do ends. */
  readonly hangUp: () => void
  /** How the process ended: its exit code or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

type Event = { readonly type: string } & Readonly<Record<string, unknown>>

export function startWorkerProcess(options: WorkerOptions, script = "worker.mjs"): WorkerProcess {
  return startProcess(options, script)
}

/** `script` is a program like `worker.mjs`, beside this file. */
export function startProcess(options: object, script: string): WorkerProcess {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(process.execPath, [path, JSON.stringify(options)], { stdio: "pipe" })
  const events: Event[] = []
  const watchers = new Set<(event: Event) => boolean>()
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line) as Event
    events.push(event)
    for (const watcher of [...watchers]) if (watcher(event)) watchers.delete(watcher)
  })
  const printing = new Set<() => boolean>()
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk
    process.stderr.write(chunk)
    for (const look of [...printing]) if (look()) printing.delete(look)
  })
  // Writing to a process that has just been killed is what these tests do.
  child.stdin.on("error", () => {})

  const until: WorkerProcess["until"] = (type, matches = () => true) =>
    new Promise((resolve) => {
      const look = (event: Event) => {
        const found = event.type === type && matches(event)
        if (found) resolve(event)
        return found
      }
      if (!events.some(look)) watchers.add(look)
    })

  let seq = 0
  return {
    pid: pidOf(child),
    until,
    call: async <T>(name: string, args = {}) => {
      seq += 1
      const mine = seq
      child.stdin.write(`${JSON.stringify({ call: name, seq: mine, ...args })}\n`)
      const answer = await until("answer", (event) => event["seq"] === mine)
      if (answer["error"]) throw Object.assign(new Error(JSON.stringify(answer["error"])), answer["error"])
      return answer["value"] as T
    },
    printed: (text) =>
      new Promise((resolve) => {
        const look = () => {
          const found = stderr.includes(text)
          if (found) resolve()
          return found
        }
        if (!look()) printing.add(look)
      }),
    hangUp: () => {
      child.stdin.end()
    },
    kill: (signal) => {
      child.kill(signal)
    },
    ended: new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code))),
  }
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("the process could not be started")
  return child.pid
}
