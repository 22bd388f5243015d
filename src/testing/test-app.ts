/**
 * One process under test. Nothing happens in it until the test says so.
 *
 * It runs the production engine on its own schema, with a clock that stands still and loops that tick on demand.
 */
import { type Application, createApplication } from "../api/application.ts"
import { type Carillon, createFacade } from "../api/carillon.ts"
import type { CarillonOptions, StopOptions } from "../api/options.ts"
import { resolveOptions } from "../api/options.ts"
import { type RunHandle, waitForOutput } from "../api/runs/run-handle.ts"
import { OptionsError } from "../errors.ts"
import type { HandlerTransaction, QueryResult } from "../job/context.ts"
import { EVENT_TYPES } from "../observe/event-types.ts"
import type { CarillonEvent } from "../observe/events.ts"
import { nearest } from "../options/nearest.ts"
import { CRASH_POINTS, type CrashPoint } from "../runtime/crash-points.ts"
import { createSystemHost } from "../runtime/system.ts"
import type { Database } from "../store/database.ts"
import { lendTransaction } from "../store/handler-transaction.ts"
import { reapRuns } from "../store/runs/reap.ts"
import { expireLeases } from "../store/workers/expire.ts"
import { markDeadWorkers } from "../store/workers/mark-dead.ts"
import type { Duration } from "../time/duration.ts"
import { createClockAdvance } from "./advance-clock.ts"
import { readNow, type SettableClock } from "./clock.ts"
import { recordClockMoves } from "./clock-moves.ts"
import { createTestHost, type TestHost } from "./test-host.ts"

/** The options of `kit.app`. */
export type TestAppOptions = Omit<CarillonOptions, "database" | "schema" | "dataDir">

/** A clock that can also let time pass. */
export interface TestClock extends SettableClock {
  /**
   * Moves the clock forward. Everything that comes due on the way executes at its own time and ends before the clock
   * moves on. Expired history and keys are removed, as in production.
   */
  readonly advance: (duration: Duration) => Promise<void>
}

/** A Carillon inside a test. */
export interface TestApp extends Omit<Carillon, "url" | "migrate" | "planMigrations"> {
  /** The clock of the app. Only the test moves it. */
  readonly clock: TestClock
  /**
   * Executes all ready runs, and those that become ready meanwhile, until none is left. Throws if that takes more than
   * `rounds` rounds (10,000 by default), as with a job that enqueues itself.
   */
  readonly drain: (options?: { readonly rounds?: number }) => Promise<void>
  /**
   * Runs one statement with parameters `$1`, `$2`, and so on, on the database of the app. Use it for your own tables.
   * They are outside the app's schema, and all apps of the kit share them.
   */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<QueryResult>
  /**
   * Runs `body` in a transaction. `enqueue(..., { tx })` accepts its `tx`. The in-memory database has one connection,
   * so a call in `body` without `tx` throws.
   */
  readonly transaction: <Result>(body: (tx: HandlerTransaction) => Promise<Result>) => Promise<Result>
  /** Runs one tick of every loop: renew, reap, promote, claim. Handlers may still execute afterwards. */
  readonly tick: () => Promise<void>
  /** Starts the loops, so that they run by themselves as in production. */
  readonly start: () => Promise<void>
  /** Stops the process gracefully. `restart` starts another one. */
  readonly stop: (options?: StopOptions) => Promise<void>
  /** Expires the lease of this process and requeues its runs, as another process would. */
  readonly stealLease: () => Promise<void>
  /** All events so far. */
  readonly events: readonly CarillonEvent[]
  /** Resolves with the first event of this type that `matches` accepts, past or future. */
  readonly until: <Type extends CarillonEvent["type"]>(
    type: Type,
    matches?: (event: Extract<CarillonEvent, { type: Type }>) => boolean,
  ) => Promise<Extract<CarillonEvent, { type: Type }>>
  /** Kills the process when it reaches this point for the `time`-th time. Unfinished work stays unfinished. */
  readonly crashAt: (point: CrashPoint, time?: number) => void
  /** Resolves when the process has died. */
  readonly crashed: () => Promise<void>
  /** Starts a new process with empty memory on the same data. It replaces the old one. */
  readonly restart: () => Promise<void>
  /** Stops the process and drops its schema. */
  readonly close: () => Promise<void>
}

export interface TestAppParts {
  readonly database: Database
  readonly clock: SettableClock
  readonly options: TestAppOptions
  readonly dispose: () => Promise<void>
}

/** One life of the process. */
interface Life {
  readonly host: TestHost
  readonly application: Application
  readonly carillon: Carillon
}

export async function createTestApp({ options, dispose, ...parts }: TestAppParts): Promise<TestApp> {
  const { database } = parts
  const { clock, agoMs } = recordClockMoves(parts.clock, createSystemHost().monotonicMs)
  const events: CarillonEvent[] = []
  const watchers = new Set<(event: CarillonEvent) => void>()
  let life = await begin()
  let keptAtMs = await readNow(database)

  async function begin(): Promise<Life> {
    const host = { ...createTestHost(), agoMs }
    const resolved = resolveOptions({ logger: SILENT, ...options })
    const attached = { ...host.attach(database), close: async () => {} }
    const application = createApplication(host, resolved, async () => ({
      database: attached,
      url: undefined,
    }))
    application.events.subscribe((event) => {
      events.push(event)
      for (const watcher of [...watchers]) watcher(event)
    })
    const { engine } = await application.open()
    await engine.open()
    return { host, application, carillon: createFacade(host, application) }
  }

  async function tick(): Promise<void> {
    const { engine } = await life.application.open()
    const { signal } = new AbortController()
    await engine.lease.tick(signal)
    await engine.reconciler.tick(signal)
    await engine.watch.tick(signal)
    await engine.stats.tick(signal)
    await engine.reaper.reap()
    engine.scheduler.bell.ring()
    await engine.scheduler.tick(signal)
    await engine.promoter.tick(signal)
    await engine.promoter.swept()
    await engine.overrides.tick(signal)
    await engine.mover.move()
    // Without a rest: all that the pace allows now.
    while ((await engine.bulk.tick(signal)) === 0);
    await engine.admissions.tick(signal)
    for (const poolLoop of engine.poolLoops) {
      // A tick reads all lanes, so it needs no wake-ups.
      poolLoop.wake(undefined)
      await poolLoop.tick(signal)
      await poolLoop.swept()
      await poolLoop.begun()
      // The next enqueue waits for the next tick: it must not hand its run to an idle worker.
      poolLoop.wake(undefined)
    }
  }

  /** Does the hourly work of the upkeep loop. */
  async function keepHouse(afterMs = HOUR_MS): Promise<void> {
    const nowMs = await readNow(database)
    if (Math.abs(nowMs - keptAtMs) < afterMs) return
    const { upkeep } = (await life.application.open()).engine
    await upkeep.prepare()
    for (const { signal } = new AbortController(); await upkeep.tidy(signal); );
    keptAtMs = nowMs
  }

  async function drainAll(rounds = MOST_ROUNDS): Promise<void> {
    const { engine } = await life.application.open()
    for (let round = 0, before = -1; before !== events.length; round += 1) {
      if (round === rounds) throw new Error(`drain() does not end: ${nameOf(events.at(-1))} goes on and on`)
      before = events.length
      await tick()
      for (const poolLoop of engine.poolLoops) await poolLoop.handled()
      for (const poolLoop of engine.poolLoops) await poolLoop.settled()
      // Lets timers fire, including the time limit of the test.
      await life.host.sleep(0)
    }
  }

  /** Waits for `work` or for the crash: a dead process never finishes. */
  async function unlessCrashed(work: () => Promise<void>): Promise<void> {
    await Promise.race([work(), life.host.crashed])
  }

  async function lookForGrowth(): Promise<void> {
    const { engine } = await life.application.open()
    await engine.growth.tick(new AbortController().signal)
  }

  /** Of the last round, too: its ends are in the statistics when `drain` resolves. */
  async function writeStats(): Promise<void> {
    await (await life.application.open()).engine.stats.write()
  }

  const drain: TestApp["drain"] = ({ rounds } = {}) =>
    unlessCrashed(async () => {
      await keepHouse()
      await drainAll(rounds)
      await lookForGrowth()
      await writeStats()
    })

  const clockAdvance = createClockAdvance({
    database,
    clock,
    isOver: () => life.host.isDead(),
    zoneData: () => life.host.facts.zoneData,
    // History is removed by whole days, with one day in reserve, so once a day is enough here.
    drain: () =>
      unlessCrashed(async () => {
        await keepHouse(DAY_MS)
        await drainAll()
      }),
    last: () => nameOf(events.at(-1)),
  })

  async function advance(duration: Duration): Promise<void> {
    await clockAdvance.advance(duration)
    await drain()
  }

  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= unlessCrashed(() => life.carillon.stop({ grace: 0 })).then(dispose)
    return closing
  }

  /** The app, or an error if its process has crashed. */
  function living(): Carillon {
    if (life.host.isDead()) throw new Error("This process has crashed. Call restart() to start another.")
    return life.carillon
  }

  async function transaction<Result>(body: (tx: HandlerTransaction) => Promise<Result>): Promise<Result> {
    living()
    const { runtime } = await life.application.open()
    return runtime.database.transaction((tx) => lendTransaction(tx, body), { connection: "handler" })
  }

  /** A handle that works after a restart: `result` asks the present process. */
  function outliving<Output>(run: RunHandle<Output>): RunHandle<Output> {
    const result: typeof run.result = async (options) => {
      living()
      const { engine } = await life.application.open()
      return (await waitForOutput(engine.results, run.id, options)) as Output
    }
    return { ...run, result }
  }

  return {
    events,
    enqueue: async (job, ...args) => outliving(await living().enqueue(job, ...args)),
    enqueueMany: async (job, ...args) => {
      const runs = await living().enqueueMany(job, ...args)
      return runs.map((run) => outliving(run))
    },
    get runs() {
      return living().runs
    },
    get deadLetters() {
      return living().deadLetters
    },
    get bulk() {
      return living().bulk
    },
    get schedules() {
      return living().schedules
    },
    get work() {
      return living().work
    },
    get tokens() {
      return living().tokens
    },
    get audit() {
      return living().audit
    },
    get jobs() {
      return living().jobs
    },
    get workers() {
      return living().workers
    },
    get pools() {
      return living().pools
    },
    get tenants() {
      return living().tenants
    },
    get everything() {
      return living().everything
    },
    get pauses() {
      return living().pauses
    },
    get stats() {
      return living().stats
    },
    ready: async (...args) => living().ready(...args),
    subscribe: (listener) => life.carillon.subscribe(listener),
    clock: { ...clock, advance },
    drain,
    query: (text, values = []) => transaction((tx) => tx.query(text, values)),
    transaction,
    tick: () =>
      unlessCrashed(async () => {
        await keepHouse()
        await tick()
        await lookForGrowth()
      }),
    start: () => unlessCrashed(() => life.application.start()),
    stop: (stopOptions) => unlessCrashed(() => life.carillon.stop(stopOptions)),
    stealLease: async () => {
      await database.run(expireLeases, {})
      const dead = await database.run(markDeadWorkers, { own: life.host.newId(), upForMs: 0 })
      await database.run(reapRuns, { leases: dead.map(({ lease }) => lease), limit: 1_000 })
    },
    until: (type, matches = () => true) =>
      new Promise((resolve, reject) => {
        if (!EVENT_TYPES.includes(type)) return reject(unknownWord(type, EVENT_TYPES))
        const look = (event: CarillonEvent) => {
          if (event.type !== type || !matches(event as Parameters<typeof matches>[0])) return false
          watchers.delete(look)
          resolve(event as Parameters<typeof matches>[0])
          return true
        }
        if (!events.some(look)) watchers.add(look)
      }),
    crashAt: (point, time) => {
      if (!CRASH_POINTS.includes(point)) throw unknownWord(point, CRASH_POINTS)
      life.host.crashAt(point, time)
    },
    crashed: () => life.host.crashed,
    restart: async () => {
      life.host.kill()
      life = await begin()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** No correct test needs more rounds. */
const MOST_ROUNDS = 10_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** The error for an unknown event or crash point. Without it, a test would wait for ever or prove nothing. */
function unknownWord(word: string, words: readonly string[]): OptionsError {
  const meant = nearest(word, words)
  const hint = meant ? `did you mean "${meant}"?` : `use one of ${words.join(", ")}`
  return new OptionsError("the test kit", [
    { path: "(argument)", message: `"${word}" does not exist; ${hint}` },
  ])
}

function nameOf(event: CarillonEvent | undefined): string {
  return event && "job" in event ? event.job : "something"
}

/** Tests read events, not log lines. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
