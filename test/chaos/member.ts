/** Starts and steers one process of a row, and keeps its events. */
import { spawn } from "node:child_process"
import { createWriteStream } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Network } from "./network.ts"

export type Role = "worker" | "producer"

export interface MemberOptions {
  readonly lease?: string
  readonly slots?: number
  readonly pools?: Readonly<Record<string, number>>
  readonly wakeups?: boolean
  /** By how much its `Date.now` is wrong. */
  readonly clockOffMs?: number
  /** Kills itself when it comes to this point for the so-manieth time. */
  readonly crashAt?: { readonly point: string; readonly time: number }
  /** A module that adds jobs and commands: `createJobs(tools)`, `createCommands(tools)`. A path or URL. */
  readonly extra?: string
  /** The row wants its death by SIGKILL, from any sender. */
  readonly mayDie?: boolean
  /** It may end itself, in whatever way. */
  readonly mayExit?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** A program that starts it, with its arguments. */
  readonly via?: readonly string[]
}

export interface Member {
  readonly name: string
  readonly role: Role
  readonly pid: number
  readonly options: MemberOptions
  /** Where the row put one between it and the server. */
  readonly network: Network | undefined
  /** Calls it and waits for its answer. Fails when it dies meanwhile, or after `withinMs`. */
  readonly call: <T>(name: string, args?: object, withinMs?: number) => Promise<T>
  /** How often it said something of this type. */
  readonly heard: (type: string) => number
  /** Everything that it said of this type. */
  readonly said: (type: string) => readonly Said[]
  readonly isUp: () => boolean
  readonly signal: (name: NodeJS.Signals) => void
  readonly hangUp: () => void
  readonly ended: Promise<number | NodeJS.Signals>
}

export type Said = { readonly type: string } & Readonly<Record<string, unknown>>

const PROGRAM = fileURLToPath(new URL("member.mjs", import.meta.url))
const CALL_MS = 90_000

export interface Facts {
  readonly name: string
  readonly role: Role
  readonly folder: string
  readonly network: Network | undefined
  /** Passed on to it as they are. */
  readonly given: Readonly<Record<string, unknown>>
}

export function startMember(facts: Facts, options: MemberOptions): Member {
  const { name, role, folder, given } = facts
  const { env, via = [], mayDie: _, mayExit: __, ...told } = options
  const [command = "", ...args] = [
    ...via,
    process.execPath,
    PROGRAM,
    JSON.stringify({ ...given, ...told, name, folder: join(folder, "history") }),
  ]
  const child = spawn(command, args, { stdio: "pipe", env: { ...process.env, ...env } })
  if (child.pid === undefined) throw new Error(`${command} could not be started`)
  child.stderr.pipe(createWriteStream(join(folder, `${name}.err`)))
  // Writing to a process that has just been killed is what rows do.
  child.stdin.on("error", () => {})
  const kept = new Map<string, Said[]>()
  const answers = new Map<number, (said: Said) => void>()
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line) as Said
    if (said.type === "answer") answers.get(Number(said["seq"]))?.(said)
    else if (!kept.get(said.type)?.push(said)) kept.set(said.type, [said])
  })
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once("exit", (code, signal) => resolve(signal ?? code ?? -1)),
  )
  let seq = 0

  return {
    name,
    role,
    pid: child.pid,
    options,
    network: facts.network,
    heard: (type) => kept.get(type)?.length ?? 0,
    said: (type) => kept.get(type) ?? [],
    isUp: () => child.exitCode === null && child.signalCode === null,
    signal: (signal) => {
      child.kill(signal)
    },
    hangUp: () => {
      child.stdin.end()
    },
    ended,
    call: async <T>(call: string, args = {}, withinMs = CALL_MS) => {
      seq += 1
      const mine = seq
      let timer: NodeJS.Timeout | undefined
      try {
        const answer = await new Promise<Said>((resolve, reject) => {
          answers.set(mine, resolve)
          timer = setTimeout(
            () => reject(new Error(`${name} did not answer ${call} within ${withinMs} ms`)),
            withinMs,
          )
          void ended.then((how) => reject(new Error(`${name} ended (${how}) before it answered ${call}`)))
          child.stdin.write(`${JSON.stringify({ call, seq: mine, ...args })}\n`)
        })
        if (answer["error"]) throw Object.assign(new Error(JSON.stringify(answer["error"])), answer["error"])
        return answer["value"] as T
      } finally {
        clearTimeout(timer)
        answers.delete(mine)
      }
    },
  }
}
