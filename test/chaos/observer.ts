/** Looks at the database all the while, as a monitor would, and records what it sees. */
import { join } from "node:path"
import { DEFAULTS } from "../../src/defaults.ts"
import { countRuns, countsOf, standingOf, standingRuns } from "../support/history/observer-snapshot.ts"
import { openRecorder, type Recorder } from "../support/history/record.mjs"
import type { World } from "./world.ts"

export interface Observer {
  readonly begin: () => void
  /** Looks no more at what goes on. */
  readonly end: () => Promise<void>
  /** Looks at the held resources when everything is done and every process is still there. */
  readonly rest: () => Promise<void>
  /** Looks once more, when every process is gone. */
  readonly last: () => Promise<void>
  /** Lets time pass in which nothing is broken. */
  readonly quiet: () => Promise<void>
  readonly record: Recorder["record"]
}

const EVERY_MS = 250
const REST_MS = 10_000
/** Between two looks at all runs. */
const COUNT_EVERY = 4
/** What a busy machine may add to a wake-up: less than the slowest poll. */
const QUIET_WITHIN_MS = 4_000
/** So long that what is due in the first third, and comes too late, is still seen to start. */
const QUIET_MS = 3 * QUIET_WITHIN_MS
/** Each class of connections of a process, its heartbeat and its listener. */
export const SESSIONS = DEFAULTS.workConnections + DEFAULTS.vitalConnections + DEFAULTS.handlerConnections + 2
/** What comes and goes with runs, and is as small as the backlog if what is dead can be removed. */
const PASSING = ["runs", "keys", "run_limits", "claims"]
/** Sessions of processes that have just died. */
const DYING = 2

export function createObserver(world: World): Observer {
  const { record, close } = openRecorder(join(world.folder, "history"), "observer")
  const ending = new AbortController()
  const s = `"${world.schema}"`
  let watching: Promise<void> | undefined

  async function lookAtSchedules(): Promise<void> {
    const cursors = await world.talk.ask(
      `select id as schedule, version, (extract(epoch from cursor) * 1000000)::bigint as "cursorUs" ` +
        `from ${s}.schedules`,
    )
    for (const { schedule, version, cursorUs } of cursors) {
      record("cursor", { schedule: String(schedule), version: Number(version), cursorUs: Number(cursorUs) })
    }
  }

  async function sampleSessions() {
    const alive = world.workers().length + world.producers().length
    const [row] = await world.talk.ask(
      `select count(*) filter (where application_name = 'carillon')::int as open,
         count(*) filter (where application_name = 'carillon' and state like 'idle in transaction%')::int as idle,
         (select count(*)::int from pg_locks where locktype = 'advisory') as locks
       from pg_stat_activity`,
    )
    return {
      open: Number(row?.["open"]),
      idleInTransaction: Number(row?.["idle"]),
      advisoryLocks: Number(row?.["locks"]),
      most: alive === 0 ? 0 : (alive + DYING) * SESSIONS,
    }
  }

  /** How many dead rows are left: those that an open snapshot may still see. */
  async function vacuum(table: string): Promise<number> {
    let dead = 0
    await world.until(async () => {
      await world.talk.ask(`vacuum ${s}.${table}`)
      const [row] = await world.talk.ask(
        "select n_dead_tup::int as dead from pg_stat_all_tables where schemaname = $1 and relname = $2",
        [world.schema, table],
      )
      dead = Number(row?.["dead"])
      return dead === 0
    }, REST_MS)
    return dead
  }

  async function count(): Promise<void> {
    const rows = await world.talk.ask(countRuns(world.schema))
    record(
      "count",
      countsOf(rows.map(({ state, many }) => [state === null ? null : String(state), Number(many)])),
    )
  }

  async function lookAtTried(): Promise<void> {
    const rows = await world.talk.ask(standingRuns(world.schema))
    for (const { standing } of rows) record("standing", standingOf(JSON.stringify(standing)))
  }

  async function look(time: number): Promise<void> {
    await lookAtSchedules()
    record("sessions", await sampleSessions())
    if (time % COUNT_EVERY !== 0) return
    await count()
    await lookAtTried()
  }

  const now = async () => {
    const [row] = await world.talk.ask(`select (extract(epoch from ${s}.now()) * 1000000)::bigint as us`)
    return Number(row?.["us"])
  }

  return {
    begin: () => {
      watching = (async () => {
        for (let time = 0; !ending.signal.aborted; time += 1) {
          // A server that is away shows nothing.
          await look(time).catch(() => {})
          await world.rest(EVERY_MS, ending.signal)
        }
      })()
    },
    end: async () => {
      ending.abort()
      await watching
    },
    rest: async () => {
      // A tick may be at work at any moment, but none for long.
      let sample = await sampleSessions()
      await world.until(async () => {
        sample = await sampleSessions()
        return sample.idleInTransaction + sample.advisoryLocks === 0
      }, REST_MS)
      record("sessions", { ...sample, isAtRest: true })
      for (const table of PASSING) record("vacuumed", { table, dead: await vacuum(table) })
    },
    last: async () => {
      // The server may take a moment to notice.
      await world.until(async () => (await openSessions(world)) === 0, 10_000)
      record("sessions", await sampleSessions())
      await count()
      close()
    },
    quiet: async () => {
      record("quiet_from", { withinMs: QUIET_WITHIN_MS, nowUs: await now() })
      await world.rest(QUIET_MS)
      record("quiet_to", { nowUs: await now() })
    },
    record,
  }
}

async function openSessions({ talk }: World): Promise<number> {
  const [row] = await talk.ask(
    `select (select count(*) from pg_stat_activity where application_name = 'carillon')
       + (select count(*) from pg_locks where locktype = 'advisory') as many`,
  )
  return Number(row?.["many"])
}
