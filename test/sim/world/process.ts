/** One simulated process: it lives, dies, is suspended and is started again with empty memory. */
import { createApplication } from "../../../src/api/application.ts"
import { type Carillon, createFacade } from "../../../src/api/carillon.ts"
import { type CarillonOptions, resolveOptions } from "../../../src/api/options.ts"
import { DatabaseError } from "../../../src/errors.ts"
import type { AnyJob } from "../../../src/job/define.ts"
import type { CarillonEvent } from "../../../src/observe/events.ts"
import type { CrashPoint } from "../../../src/runtime/crash-points.ts"
import type { Host } from "../../../src/runtime/host.ts"
import type { Connection } from "../../../src/store/server/connection.ts"
import { openServer } from "../../../src/store/server/server.ts"
import { recordEvents } from "../../support/history/record-events.mjs"
import { createDialer, type Link } from "../database/network.ts"
import type { Server } from "../database/server.ts"
import type { Kernel, Owner } from "../kernel/kernel.ts"
import type { Chance } from "../kernel/seeded-random.ts"
import { createSimHost, type Skew } from "./host.ts"
import type { Pen, Recorder } from "./recorder.ts"

/** One life of a process. */
export interface Life {
  readonly pid: number
  readonly host: Host
  readonly carillon: Carillon
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly record: Pen
  readonly chance: Chance
  readonly isAlive: () => boolean
  /** A connection of a user's own. */
  readonly dial: () => Promise<Connection>
}

export interface SimProcess {
  readonly name: string
  /** The present life; the last one while it is dead. */
  readonly life: () => Life | undefined
  readonly isAlive: () => boolean
  /** Begins a new life. */
  readonly start: () => Life
  /** All that it was doing is dropped where it is. */
  readonly crash: (why: string) => void
  /**
   * Stops in order, and is then as dead as after a crash. Held to the promises of a stop only if every call was
   * answered.
   */
  readonly stop: (graceMs: number) => void
  readonly isStopping: () => boolean
  /** Nothing of it happens before. */
  readonly pausedUntilUs: () => number
  /** Nothing of it happens for so long. */
  readonly pause: (us: number) => void
  readonly resume: () => void
}

export interface ProcessParts {
  readonly kernel: Kernel
  readonly server: Server
  readonly recorder: Recorder
  readonly name: string
  readonly schema: string
  /** When the simulation began, by a clock that is right. */
  readonly startUs: number
  readonly link: Link
  readonly skew: Skew
  readonly options: Omit<CarillonOptions, "jobs">
  /** Whether it works; else it is there for its clients only. */
  readonly works: boolean
  readonly makeJobs: (
    life: Pick<Life, "host" | "record" | "chance">,
    self: () => Life | undefined,
  ) => readonly AnyJob[]
  /** What else the process does: its clients. */
  readonly onStarted: (life: Life) => void
  readonly onCrashPoint: (process: SimProcess, point: CrashPoint) => void
  readonly onEvent: (event: CarillonEvent) => void
  /** Whether no call is under way any more of which something was lost, nor will be. */
  readonly isAnswered: () => boolean
  readonly onTrouble: (says: string) => void
  readonly nextPid: () => number
}

export function createProcess(parts: ProcessParts): SimProcess {
  const { kernel, server, recorder, name, link, skew } = parts
  let life: Life | undefined
  let living: Owner | undefined
  let destroyAll = () => {}
  let alive = false
  let isStopping = false
  let pausedUntilUs = 0

  function start(): Life {
    if (alive) throw new Error(`${name} lives`)
    alive = true
    isStopping = false
    pausedUntilUs = 0
    let mine = true
    const pid = parts.nextPid()
    const isAlive = () => mine && alive
    const owner: Owner = { isAlive, pausedUntilUs: () => pausedUntilUs }
    living = owner
    const chance = kernel.chance.fork(`process ${pid}`)
    const record = recorder.penOf(pid, isAlive)
    const host = createSimHost({
      kernel,
      owner,
      chance,
      skew,
      pid,
      wallMs: () => (parts.startUs + kernel.nowUs()) / 1_000,
      onCrashPoint: (point) => {
        if (isAlive()) parts.onCrashPoint(self, point)
      },
    })
    const jobs = parts.makeJobs({ host, record, chance }, () => life)
    const dialer = createDialer({ kernel, server, owner, name: `${name}/${pid}`, link })
    destroyAll = () => {
      mine = false
      dialer.destroyAll()
    }
    const resolved = resolveOptions({ ...parts.options, jobs, logger: SILENT })
    const application = createApplication(host, resolved, async () => ({
      database: openServer(host, { url: "simulated", schema: parts.schema, connect: dialer.connect }),
      url: undefined,
    }))
    const write = recordEvents(record)
    application.events.subscribe((event) => write({ ...event }))
    application.events.subscribe((event) => {
      if (isAlive()) parts.onEvent(event)
    })
    const carillon = createFacade(host, application)
    const begun: Life = {
      pid,
      host,
      carillon,
      record,
      chance,
      isAlive,
      dial: () => {
        const { signal } = new AbortController()
        const deadlineAtMs = host.monotonicMs() + DIAL_MS
        return dialer.connect(host, { url: "simulated", deadlineAtMs, signal }).catch((cause: unknown) => {
          throw new DatabaseError("DATABASE_UNAVAILABLE", String(cause), { cause })
        })
      },
      jobs: new Map(jobs.map((job) => [job.name, job])),
    }
    life = begun
    if (skew.wallMs !== 0) record("clock_off", { ms: skew.wallMs })
    kernel.note(`${name}/${pid} starts`)
    if (parts.works)
      carillon.start().then(
        () => isAlive() && kernel.note(`${name}/${pid} has started`),
        (error: unknown) => {
          const code = (error as { code?: unknown }).code
          if (isAlive() && code !== "CLOSED") parts.onTrouble(`${name} could not start: ${String(error)}`)
        },
      )
    parts.onStarted(begun)
    return begun
  }

  function crash(why: string): void {
    if (!alive) return
    kernel.note(`${name}/${life?.pid} dies: ${why}`)
    alive = false
    destroyAll()
  }

  const self: SimProcess = {
    name,
    life: () => life,
    isAlive: () => alive,
    start,
    crash,
    stop: (graceMs) => {
      if (!alive || isStopping || !life) return
      isStopping = true
      const { carillon, pid, record } = life
      // A suspended process hears of it later.
      kernel.after(0, stopNow, living)

      function stopNow(): void {
        kernel.note(`${name}/${pid} stops`)
        record("stop_invoke", parts.isAnswered() ? { graceMs } : {})
        carillon.stop({ grace: graceMs }).then(
          () => {
            if (life?.pid !== pid || !alive) return
            record("stop_ok", {})
            crash("stopped in order")
          },
          (error: unknown) => parts.onTrouble(`${name} could not stop: ${String(error)}`),
        )
      }
    },
    isStopping: () => isStopping,
    pausedUntilUs: () => pausedUntilUs,
    pause: (us) => {
      kernel.note(`${name} is paused for ${Math.round(us / 1_000)} ms`)
      pausedUntilUs = Math.max(pausedUntilUs, kernel.nowUs() + Math.ceil(us))
    },
    resume: () => {
      pausedUntilUs = 0
    },
  }
  return self
}

const DIAL_MS = 5_000
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
