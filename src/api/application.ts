/** The life of one Carillon: connected once, migrated once, started once, stopped once, whoever asks and how often. */
import { createEngine, type Engine } from "../engine/engine.ts"
import { CarillonError } from "../errors.ts"
import { createEvents, type Events } from "../observe/events.ts"
import { createTerminalLogger, logEvent } from "../observe/log.ts"
import type { Host } from "../runtime/host.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { migrate } from "../store/migrate.ts"
import type { OpenedDatabase } from "./open-database.ts"
import type { ResolvedOptions } from "./options.ts"

export interface Application {
  readonly events: Events
  /** Connects, without touching the schema. */
  readonly connect: () => Promise<Runtime>
  /** Connects and brings the schema up to date. */
  readonly open: () => Promise<Opened>
  readonly start: () => Promise<void>
  readonly stop: (graceMs: number) => Promise<void>
  readonly url: () => string | undefined
}

export interface Opened {
  readonly runtime: Runtime
  readonly engine: Engine
  /** The versions that were missing. */
  readonly migrated: readonly number[]
}

export function createApplication(
  host: Host,
  options: ResolvedOptions,
  openDatabase: (host: Host) => Promise<OpenedDatabase>,
): Application {
  const logger = options.logger ?? createTerminalLogger(host)
  const events = createEvents((error) => logger.error(`a listener of events failed: ${String(error)}`))
  events.subscribe((event) => logEvent(logger, event))
  let url: string | undefined
  let stopped: Promise<void> | undefined

  const connect = once(async (): Promise<Runtime> => {
    const opened = await openDatabase(host)
    url = opened.url
    return { ...host, database: opened.database }
  })

  const open = once(async (): Promise<Opened> => {
    const runtime = await connect()
    const migrated = await migrate(runtime)
    if (migrated.length > 0) {
      events.emit({ type: "schema.migrated", schema: runtime.database.schema, versions: migrated })
    }
    return { runtime, engine: createEngine(runtime, events, options), migrated }
  })

  const start = once(async (): Promise<void> => {
    const { engine } = await open()
    await engine.start()
  })

  /** After `stop()` nothing is opened any more. */
  function unlessStopped<T>(call: () => Promise<T>): () => Promise<T> {
    return async () => {
      if (stopped !== undefined) throw closedError()
      return call()
    }
  }

  async function stop(graceMs: number): Promise<void> {
    // Whatever is half open is opened first: closing it in between would leave things behind.
    await start.settled()
    const opened = await open.settled()
    const connected = await connect.settled()
    await opened?.value.engine.stop(graceMs)
    await connected?.value.database.close()
  }

  return {
    events,
    connect: unlessStopped(connect),
    open: unlessStopped(open),
    start: unlessStopped(start),
    stop: (graceMs) => {
      stopped ??= stop(graceMs)
      return stopped
    },
    url: () => url,
  }
}

/** Runs `work` once and shares its result. After a failure the next call tries again. */
function once<T>(
  work: () => Promise<T>,
): (() => Promise<T>) & { settled: () => Promise<{ value: T } | undefined> } {
  let running: Promise<T> | undefined
  const call = () => {
    running ??= work().catch((error) => {
      running = undefined
      throw error
    })
    return running
  }
  return Object.assign(call, {
    settled: async () => {
      try {
        return running && { value: await running }
      } catch {
        return undefined
      }
    },
  })
}

function closedError(): CarillonError {
  return new CarillonError(
    "CLOSED",
    "This Carillon has been stopped. Create a new one, or make the call before `stop()`.",
  )
}
