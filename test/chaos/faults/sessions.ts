/** Sessions of the database that are ended, slots that are taken, and locks that are held. */
import pg from "pg"
import { breach } from "../../support/history/breach.ts"
import type { Chance } from "../chance.ts"
import type { Fault } from "../fault.ts"
import { complaintsAboutExpiry } from "../leases.ts"
import { enqueueNowAndThen, SPARSE } from "../sparse.ts"
import type { World } from "../world.ts"

const OURS = "application_name = 'carillon' and backend_type = 'client backend'"

async function endSessions(world: World, which: string): Promise<number> {
  const rows = await world.talk.ask(
    `select pg_terminate_backend(pid) as done from pg_stat_activity where ${which}`,
  )
  return rows.filter(({ done }) => done === true).length
}

const terminated: Fault = {
  id: "F13",
  title: "the server ends sessions at random, five a second",
  strikes: ["sessions ended"],
  inject: async (world, chance, signal) => {
    while (!signal.aborted) {
      const victims = await world.talk.ask(`select pid from pg_stat_activity where ${OURS}`)
      if (victims.length > 0) {
        world.struck("sessions ended", await endSessions(world, `pid = ${chance.pick(victims)["pid"]}`))
      }
      await world.rest(200, signal)
    }
  },
}

const LISTENING = `${OURS} and query ilike 'listen%'`

const deaf: Fault = {
  id: "F14",
  title: "only the sessions that listen are ended",
  stage: SPARSE,
  strikes: ["listeners ended", "runs meanwhile that nothing else would start"],
  mustJudge: ["I11"],
  inject: async (world, chance, signal) => {
    const endListeners = async (own: Chance) => {
      while (!signal.aborted) {
        world.struck("listeners ended", await endSessions(world, LISTENING))
        await world.rest(own.between(300, 1_500), signal)
      }
    }
    const enqueue = async (own: Chance) =>
      world.struck("runs meanwhile that nothing else would start", await enqueueNowAndThen(world, own))
    await Promise.all([endListeners(chance), enqueue(chance.fork("runs"))])
  },
  heal: async (world) => {
    // Workers and producers all listen again.
    const wanted = world.workers().length
    const count = async () =>
      (await world.talk.ask(`select 1 from pg_stat_activity where ${LISTENING}`)).length
    const isBack = await world.until(async () => (await count()) >= wanted, 15_000)
    if (!isBack) world.complain(breach("I24", `of ${wanted} workers only ${await count()} listen again.`))
  },
}

/** Opens sessions until the server refuses, and keeps them. */
async function takeAllSlots(
  url: string,
): Promise<{ readonly many: number; readonly release: () => Promise<void> }> {
  const clients: pg.Client[] = []
  for (;;) {
    const client = new pg.Client({ connectionString: url, application_name: "hoarder" })
    client.on("error", () => {})
    try {
      await client.connect()
      clients.push(client)
    } catch {
      break
    }
  }
  return {
    many: clients.length,
    release: async () => {
      await Promise.all(clients.map((client) => client.end().catch(() => {})))
    },
  }
}

const noSlots: Fault = {
  id: "F20",
  title: "no connection is to be had, and some are lost meanwhile",
  stage: { server: { settings: { max_connections: "120" } } },
  strikes: ["slots taken", "sessions ended", "refusals"],
  inject: async (world, chance, signal) => {
    do {
      const ended = await endSessions(world, `${OURS} and random() < 0.4`)
      const hoard = await takeAllSlots(world.server.url)
      world.struck("sessions ended", ended)
      world.struck("slots taken", hoard.many)
      await world.rest(chance.between(1_000, 3_000))
      await hoard.release()
      await world.rest(500, signal)
    } while (!signal.aborted)
    world.struck("refusals", world.heard("database.unreachable") + world.heard("loop.failed"))
  },
}

const heldKeys: Fault = {
  id: "F24",
  title: "a transaction of a user holds a key and an occurrence that others want",
  strikes: ["keys held", "occurrences held"],
  inject: async (world, chance, signal) => {
    const s = `"${world.schema}"`
    do {
      const before = await cursors(world)
      await world.talk.session(async (ask) => {
        await ask("begin")
        for (let key = 1; key <= 8; key += 1) {
          const held = await ask(
            `insert into ${s}.keys (tenant, job, key, run) values ('', 'work', $1, gen_random_uuid())
             on conflict do nothing returning key`,
            [`key-${key}`],
          )
          world.struck("keys held", held.length)
        }
        // The next occurrences of one schedule: whoever decides about it has to wait.
        const held = await ask(
          `insert into ${s}.fires (schedule, occurrence, outcome, reason, decided_at, last)
           select id, next_occurrence + n * interval '1 second', 'skipped', 'chaos', now(), next_occurrence + n * interval '1 second'
           from ${s}.schedules, generate_series(1, 3) as n where name = 'all-1s' and next_occurrence is not null
           returning occurrence`,
        )
        world.struck("occurrences held", held.length)
        await world.rest(chance.between(3_000, 4_000))
        await ask("rollback")
      })
      const after = await cursors(world)
      const stuck = [...before]
        .filter(([name, at]) => name !== "all-1s" && after.get(name) === at)
        .map(([name]) => name)
      if (stuck.length > 0)
        world.complain(breach("I24", `while another was held, these did not go on: ${stuck.join(", ")}.`))
      await world.rest(500, signal)
    } while (!signal.aborted)
  },
}

/** Of those that are due every second. */
async function cursors(world: World): Promise<Map<string, number>> {
  const rows = await world.talk.ask(
    `select name, extract(epoch from cursor) as at from "${world.schema}".schedules where name ~ '^(all|latest)-'`,
  )
  return new Map(rows.map(({ name, at }) => [String(name), Number(at)]))
}

const lockedTables: Fault = {
  id: "F25",
  title: "somebody locks whole tables for longer than a lease",
  stage: { seconds: (asked) => Math.max(asked, 8), recoverSeconds: 75 },
  strikes: ["tables locked"],
  expect: (world) => complaintsAboutExpiry(world, world.strikes.get("tables locked") ?? 0),
  inject: async (world, chance, signal) => {
    do {
      const table = chance.pick(["runs", "runs", "attempts", "schedules", "fires", "workers", "keys"])
      await world.talk.session(async (ask) => {
        await ask("begin")
        await ask(`lock table "${world.schema}".${table} in access exclusive mode`)
        await world.rest(chance.between(2_500, 4_000))
        await ask("rollback")
      })
      world.struck("tables locked")
      await world.rest(500, signal)
    } while (!signal.aborted)
  },
}

const deadlocks: Fault = {
  id: "F26",
  title: "others lock the same rows in another order",
  stage: { rate: 60, server: { settings: { deadlock_timeout: "50ms" } } },
  strikes: ["deadlocks"],
  inject: async (world, chance, signal) => {
    const s = `"${world.schema}"`
    // A counter of the server's own says how many it had to break.
    const count = async () => {
      const [row] = await world.talk.ask(
        "select deadlocks::int as many from pg_stat_database where datname = current_database()",
      )
      return Number(row?.["many"])
    }
    const rival = async (own: ReturnType<typeof chance.fork>) => {
      while (!signal.aborted) {
        await world.talk
          .session(async (ask) => {
            await ask("begin")
            await ask("set local lock_timeout = '2s'")
            const rows = await ask(
              `select id from ${s}.runs where state in ('running', 'ready') order by id desc limit 12`,
            )
            for (const { id } of rows) {
              await ask(`select 1 from ${s}.runs where id = $1 for update`, [id])
              await world.rest(own.between(1, 15))
            }
            await ask("rollback")
          })
          .catch(() => {})
      }
    }
    await Promise.all(["one", "two", "three", "four"].map((name) => rival(chance.fork(name))))
    world.struck("deadlocks", await count())
  },
}

export const sessions: readonly Fault[] = [terminated, deaf, noSlots, heldKeys, lockedTables, deadlocks]
