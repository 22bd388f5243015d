/**
 * One process under test: nothing happens in it unless the test lets it.
 *
 * The same engine as in production, on a schema of its own, with a clock that stands still and loops that tick
 * when they are told to.
 */
import { type Application, createApplication } from "../api/application.ts"
import { type Carillon, createFacade } from "../api/carillon.ts"
import type { CarillonOptions, StopOptions } from "../api/options.ts"
import { resolveOptions } from "../api/options.ts"
import type { RunHandle } from "../api/runs/run-handle.ts"
import { OptionsError } from "../errors.ts"
import type { HandlerTransaction, QueryResult } from "../job/context.ts"
import { type CarillonEvent, EVENT_TYPES } from "../observe/events.ts"
import { nearest } from "../options/nearest.ts"
import { CRASH_POINTS, type CrashPoint } from "../runtime/crash-points.ts"
import { createSystemHost } from "../runtime/system.ts"
import type { Database } from "../store/database.ts"
import { lendTransaction } from "../store/handler-transaction.ts"
import { reapRuns } from "../store/runs/reap.ts"
import { expireLeases } from "../store/workers/expire.ts"
import { markDeadWorkers } from "../store/workers/mark-dead.ts"
import type { Duration } from "../time/duration.ts"
import { readNow, type SettableClock } from "./clock.ts"
import { noteMoves } from "./moves.ts"
import { createPassing } from "./passing.ts"
import { createTestHost, type TestHost } from "./test-host.ts"

/** The options of `kit.app`. */
export type TestAppOptions = Omit<CarillonOptions, "database" | "schema" | "dataDir">

/** A clock that can also let time pass. */
export interface TestClock extends SettableClock {
  /**
   * Lets time pass: everything that becomes due on the way happens, each at its own moment, and is finished
   * before the clock moves on. History, keys and the rest leave when their time is over, as in production.
   */
  readonly advance: (duration: Duration) => Promise<void>
}

/** A Carillon inside a test: what `kit.app` returns. */
export interface TestApp extends Omit<Carillon, "url" | "migrate" | "planMigrations"> {
  /** The clock of the app, which a test moves. */
  readonly clock: TestClock
  /**
   * Executes everything that is ready, and what becomes ready by that, until nothing is left. Throws when that does not
   * end within so many rounds (10,000), as with a job that enqueues itself.
   */
  readonly drain: (options?: { readonly rounds?: number }) => Promise<void>
  /**
   * Runs one statement on the database that the app is in, with `$1`, `$2`, ... as parameters: for tables of your own.
   * They are outside of the app's schema, and every app of the kit sees them.
   */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<QueryResult>
  /**
   * Commits what `body` does, or nothing: `enqueue(..., { tx })` takes its `tx`. In memory there is one connection, so
   * that calls in `body` which are not given the `tx` are refused.
   */
  readonly transaction: <Result>(body: (tx: HandlerTransaction) => Promise<Result>) => Promise<Result>
  /** Lets every loop do one piece of work: renew, reap, promote, claim. Handlers may still run afterwards. */
  readonly tick: () => Promise<void>
  /** Lets the loops run by themselves, as in production. */
  readonly start: () => Promise<void>
  /** Stops the process in order. `restart` starts another. */
  readonly stop: (options?: StopOptions) => Promise<void>
  /** Declares this process dead and gives its runs to others, as another process does when the lease has expired. */
  readonly stealLease: () => Promise<void>
  /** Everything that has happened so far. */
  readonly events: readonly CarillonEvent[]
  /** The first event of this type that satisfies `matches`, past or future. */
  readonly until: <Type extends CarillonEvent["type"]>(
    type: Type,
    matches?: (event: Extract<CarillonEvent, { type: Type }>) => boolean,
  ) => Promise<Extract<CarillonEvent, { type: Type }>>
  /** Lets the process die when it reaches this point for the `time`-th time. What it was doing is left as it is. */
  readonly crashAt: (point: CrashPoint, time?: number) => void
  /** Resolves when the process has died at such a point. */
  readonly crashed: () => Promise<void>
  /** Starts a new process in place of the old, with empty memory, on the same data. */
  readonly restart: () => Promise<void>
  /** Stops it and drops its schema. */
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
  const { clock, agoMs } = noteMoves(parts.clock, createSystemHost().monotonicMs)
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
    await engine.reaper.reap()
    engine.scheduler.bell.ring()
    await engine.scheduler.tick(signal)
    await engine.promoter.tick(signal)
    await engine.promoter.swept()
    await engine.mover.move()
    await engine.admissions.tick(signal)
    for (const poolLoop of engine.poolLoops) {
      // Nobody has to be told of anything here: every tick looks at everything.
      poolLoop.wake(undefined)
      await poolLoop.tick(signal)
      await poolLoop.swept()
      await poolLoop.begun()
      // What is enqueued next waits for the next tick: nothing goes past the queue by itself.
      poolLoop.wake(undefined)
    }
  }

  /** What the loop of upkeep does once an hour. */
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
      // Lets timers fire, those of the test's own time limit too.
      await life.host.sleep(0)
    }
  }

  /** A dead process cannot finish anything; the test goes on. */
  async function unlessCrashed(work: () => Promise<void>): Promise<void> {
    await Promise.race([work(), life.host.crashed])
  }

  async function lookForGrowth(): Promise<void> {
    const { engine } = await life.application.open()
    await engine.growth.tick(new AbortController().signal)
  }

  const drain: TestApp["drain"] = ({ rounds } = {}) =>
    unlessCrashed(async () => {
      await keepHouse()
      await drainAll(rounds)
      await lookForGrowth()
    })

  const passing = createPassing({
    database,
    clock,
    isOver: () => life.host.isDead(),
    zoneData: () => life.host.facts.zoneData,
    // Days leave as a whole, and there is one in reserve: on the way that is often enough.
    drain: () =>
      unlessCrashed(async () => {
        await keepHouse(DAY_MS)
        await drainAll()
      }),
    last: () => nameOf(events.at(-1)),
  })

  async function advance(duration: Duration): Promise<void> {
    await passing.advance(duration)
    await drain()
  }

  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= unlessCrashed(() => life.carillon.stop({ grace: 0 })).then(dispose)
    return closing
  }

  /** The dead do not answer; a test that asks them should hear about it. */
  function living(): Carillon {
    if (life.host.isDead()) throw new Error("this process has crashed: call restart() to start another")
    return life.carillon
  }

  async function transaction<Result>(body: (tx: HandlerTransaction) => Promise<Result>): Promise<Result> {
    living()
    const { runtime } = await life.application.open()
    return runtime.database.transaction((tx) => lendTransaction(tx, body), { connection: "handler" })
  }

  /** The handle outlives the process that enqueued the run, as the run itself does. */
  function outliving<Output>(run: RunHandle<Output>): RunHandle<Output> {
    return { ...run, result: async (options) => (await living().result(run.id, options)) as Output }
  }

  return {
    events,
    enqueue: async (job, ...args) => outliving(await living().enqueue(job, ...args)),
    enqueueMany: async (job, ...args) => {
      const runs = await living().enqueueMany(job, ...args)
      return runs.map((run) => outliving(run))
    },
    result: async (runId, options) => living().result(runId, options),
    run: async (...args) => living().run(...args),
    attempts: async (...args) => living().attempts(...args),
    history: async (...args) => living().history(...args),
    cancel: async (...args) => living().cancel(...args),
    expedite: async (...args) => living().expedite(...args),
    replay: async (...args) => living().replay(...args),
    discard: async (...args) => living().discard(...args),
    pause: async (...args) => living().pause(...args),
    resume: async (...args) => living().resume(...args),
    pauses: async () => living().pauses(),
    get schedules() {
      return living().schedules
    },
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

/** More rounds than any test means. */
const MOST_ROUNDS = 10_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A test that waits for what does not exist would wait for ever, or pass for nothing. */
function unknownWord(word: string, words: readonly string[]): OptionsError {
  const meant = nearest(word, words)
  const hint = meant ? `did you mean "${meant}"?` : `there are ${words.join(", ")}`
  return new OptionsError("the test kit", [
    { path: "(argument)", message: `"${word}" does not exist; ${hint}` },
  ])
}

function nameOf(event: CarillonEvent | undefined): string {
  return event && "job" in event ? event.job : "something"
}

/** Tests look at events, not at the terminal. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
