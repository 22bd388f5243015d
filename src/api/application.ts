/** The life of one Carillon: it connects, migrates, starts and stops once, however often it is called. */
import { DEFAULTS } from "../defaults.ts"
import type { EngineConfig } from "../engine/config.ts"
import { createEngine, type Engine } from "../engine/engine.ts"
import type { WriteLimits } from "../engine/enqueue/enqueuer.ts"
import { CarillonError, DatabaseError } from "../errors.ts"
import { createEvents } from "../observe/create-events.ts"
import type { CarillonEvent, Events } from "../observe/events.ts"
import { createLog } from "../observe/log.ts"
import { outputOf, terminalOutput } from "../observe/logger.ts"
import { carryOnNext } from "../operations/bulk/carry-on-next.ts"
import { declareSchedules as declare } from "../operations/schedules/declare.ts"
import { createAbortListeners } from "../runtime/abort-listeners.ts"
import type { Host } from "../runtime/host.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { createStop } from "../runtime/stop.ts"
import { wallClock } from "../runtime/system.ts"
import { isHopeless } from "../store/database-error.ts"
import { withoutPassword } from "../store/embedded/endpoint.ts"
import { migrate } from "../store/migrate.ts"
import { assertPrivileges } from "../store/roles/standing.ts"
import type { ServerReports } from "../store/server/server.ts"
import { assertWritable } from "../store/writable.ts"
import { actorOf } from "./actor.ts"
import { limitCall, type ResolvedCall } from "./limited-call.ts"
import { once } from "./once.ts"
import type { OpenedDatabase } from "./open-database.ts"
import type { ResolvedOptions } from "./options.ts"

export interface Application {
  readonly events: Events
  /** Connects, without touching the schema. */
  readonly connect: () => Promise<Runtime>
  /** Connects and brings the schema up to date. */
  readonly open: () => Promise<Opened>
  /** Opens, and makes a call that a stop waits for. */
  readonly call: <T>(work: (opened: Opened) => Promise<T>, options?: ResolvedCall) => Promise<T>
  /** Opens and begins to work. Retries while the database is unreachable or read-only. */
  readonly start: () => Promise<void>
  readonly stop: (graceMs: number) => Promise<void>
  readonly url: () => string | undefined
}

export interface Opened {
  readonly runtime: Runtime
  readonly engine: Engine
  /** The actor of calls that name none. */
  readonly actor: string
  /** Aborted when a stop begins. */
  readonly stopping: AbortSignal
  /** The versions that were missing. */
  readonly migrated: readonly number[]
  /** Of the call that is made, where it has limits of its own. */
  readonly limits?: WriteLimits
}

/** How long a stop waits for calls made before it. The grace of handlers runs at the same time. */
const LAST_CALLS_MS = 5_000
/** How long a stop waits for the last writes. The shorter time holds if the calls took longer than the grace. */
const LAST_WRITES_MS = 5_000
const HURRIED_WRITES_MS = 2_000
/** The exit code of a process whose slots are all lost to stuck handlers. */
const EXIT_CODE = 1
const RETRY_BASE_MS = 500
const RETRY_CAP_MS = 10_000

export function createApplication(
  host: Host,
  options: ResolvedOptions,
  openDatabase: (reports: ServerReports) => Promise<OpenedDatabase>,
): Application {
  const { logger } = options
  const log = createLog(host, logger ? outputOf(logger) : terminalOutput({ host, nowMs: wallClock.nowMs }))
  const events = createEvents(log.tellListenerFailure, host.newContext)
  events.subscribe(log.tell, { routine: log.hearsRoutine() })
  /** Runs outside the async context of the caller: loops that start here outlive the first call. */
  const apart = <T>(work: () => Promise<T>) => once(() => host.newContext()(work))
  if (options.onStuck === "exit") events.subscribe(exitIfStuck, { routine: false })
  const stopping = createStop()
  const calls = new Set<PendingCall>()
  const aborts = createAbortListeners()
  let url: string | undefined
  let stopped: Promise<void> | undefined

  const connect = apart(async (): Promise<Runtime> => {
    const opened = await openDatabase({
      onUnreachable: (error) => events.emit({ type: "database.unreachable", error }),
      onRefused: (error, held) => events.emit({ type: "database.crowded", error, held }),
    })
    url = opened.url
    if (url !== undefined) {
      const type = opened.isJoined ? "embedded.joined" : "embedded.started"
      events.emit({ type, url: withoutPassword(url) })
    }
    if (opened.pglite) {
      const platform = `${host.facts.platform}-${host.facts.arch}`
      events.emit({ type: "pglite.opened", platform, ...opened.pglite })
    }
    return { ...host, database: opened.database }
  })

  const { schedules } = options
  const declareSchedules: EngineConfig["declareSchedules"] =
    schedules && ((parts) => declare(parts, schedules))

  const open = apart(async (): Promise<Opened> => {
    const runtime = await connect()
    const migrated = await migrate(runtime)
    await assertPrivileges(runtime.database)
    if (migrated.length > 0) {
      events.emit({ type: "schema.migrated", schema: runtime.database.schema, versions: migrated })
    }
    const engine = createEngine(runtime, events, {
      ...options,
      ...{ declareSchedules, carryOnBulk: carryOnNext },
    })
    const actor = options.actor ?? actorOf(host.facts)
    return { runtime, engine, actor, stopping: stopping.signal, migrated }
  })

  const start = apart(async (): Promise<void> => {
    // Only the schemas of the jobs can find the faults of inputs.
    await options.schedules?.definitions()
    tellUnserved()
    let isReadOnly = false
    for (let failures = 1; ; failures += 1) {
      try {
        await assertWritable((await connect()).database)
        const { engine } = await open()
        await engine.start()
        if (isReadOnly) events.emit({ type: "database.writable" })
        return
      } catch (error) {
        if (stopping.signal.aborted) throw closedError(error)
        if (!canWait(error)) throw error
        const wasReadOnly = isReadOnly
        isReadOnly = error instanceof DatabaseError && error.code === "DATABASE_READ_ONLY"
        if (!isReadOnly) events.emit({ type: "loop.failed", loop: "start", error, failures })
        else if (!wasReadOnly) events.emit({ type: "database.read-only", error })
        const longestMs = Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** failures)
        await host.sleep(host.random() * longestMs, stopping.signal)
      }
    }
  })

  function tellUnserved(): void {
    if (!options.isWorker) return
    const unserved = [...options.jobs.values()].filter(({ pool }) => !options.pools.has(pool))
    if (unserved.length === 0) return
    events.emit({ type: "pools.unserved", jobs: unserved.map(({ name, pool }) => `${name} (${pool})`) })
  }

  /** Refuses the work after `stop()`. */
  function unlessStopped<T>(work: () => Promise<T>): () => Promise<T> {
    return async () => {
      if (stopping.signal.aborted) throw closedError()
      return work()
    }
  }

  async function call<T>(work: (opened: Opened) => Promise<T>, options?: ResolvedCall): Promise<T> {
    if (stopping.signal.aborted) throw closedError()
    if (options !== undefined) {
      const limited = limitCall(host, aborts, options)
      return limited.race(() => call((opened) => work({ ...opened, ...limited.on(opened.runtime) })))
    }
    const made = open().then(work)
    return new Promise((resolve, reject) => {
      const pending: PendingCall = {
        over: made.then(resolve, reject),
        giveUp: () => reject(overtakenError()),
      }
      calls.add(pending)
      void pending.over.finally(() => calls.delete(pending))
    })
  }

  /** Gives back the other runs and ends the process, so that its supervisor starts it again. */
  async function exitIfStuck({ type }: CarillonEvent): Promise<void> {
    if (type !== "pool.exhausted" || stopped !== undefined) return
    await stopOnce(DEFAULTS.graceMs).catch(() => {})
    host.exit(EXIT_CODE)
  }

  function stopOnce(graceMs: number): Promise<void> {
    stopped ??= stop(graceMs)
    return stopped
  }

  async function stop(graceMs: number): Promise<void> {
    stopping.abort()
    // The last calls may take a while, and no new run may start in this time.
    void open.settled().then((opened) => opened?.value.engine.close())
    const stopBeganMs = host.monotonicMs()
    const patience = new AbortController()
    const lastCalls = Promise.all([...calls].map(({ over }) => over))
    await Promise.race([lastCalls, host.sleep(LAST_CALLS_MS, patience.signal)])
    patience.abort()
    for (const { giveUp } of calls) giveUp()
    const spentMs = host.monotonicMs() - stopBeganMs
    const connected = await connect.settled()
    // Closing the database ends a start or an open that is still running.
    if (start.isRunning() || open.isRunning()) await connected?.value.database.close()
    await start.settled()
    const opened = await open.settled()
    const lastWritesMs = spentMs > graceMs ? HURRIED_WRITES_MS : LAST_WRITES_MS
    await opened?.value.engine.stop(Math.max(0, graceMs - spentMs), lastWritesMs)
    await connected?.value.database.close()
    log.close()
  }

  return {
    events,
    connect: unlessStopped(connect),
    open: unlessStopped(open),
    call,
    start: unlessStopped(start),
    stop: (graceMs) => {
      // A later stop may have less patience than the first.
      if (stopped !== undefined) void open.settled().then((opened) => opened?.value.engine.stop(graceMs))
      return stopOnce(graceMs)
    },
    url: () => url,
  }
}

/** May the database come back by itself? It does not after a wrong password or a missing database. */
function canWait(error: unknown): boolean {
  return error instanceof DatabaseError && error.retryable && !isHopeless(error.sqlState)
}

/** A call that a stop waits for. */
interface PendingCall {
  /** Resolves when the call has ended. */
  readonly over: Promise<void>
  /** Rejects the call, because the stop waits no longer. */
  readonly giveUp: () => void
}

function overtakenError(): DatabaseError {
  return new DatabaseError(
    "OUTCOME_UNKNOWN",
    "The process stopped before the database had answered this call. Whether it took effect is unknown; a repetition " +
      "with the same `key` finds the run if it did.",
  )
}

function closedError(cause?: unknown): CarillonError {
  const message = "This Carillon has been stopped. Create a new one, or make the call before `stop()`."
  return new CarillonError("CLOSED", message, { cause })
}
