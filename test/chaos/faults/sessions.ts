/** Sessions that are ended, connection slots that are taken, and locks that are held. */
import { readFileSync } from "node:fs"
import pg from "pg"
import { violationText } from "../../support/history/violation-text.ts"
import type { Fault } from "../fault.ts"
import type { Talk } from "../operator-session.ts"
import type { Chance } from "../seeded-random.ts"
import { enqueueNowAndThen, SPARSE } from "../sparse-load.ts"
import type { World } from "../world.ts"
import { complaintsAboutExpiry } from "../wrong-expiry.ts"

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
    if (!isBack)
      world.complain(violationText("I24", `of ${wanted} workers only ${await count()} listen again.`))
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

/** So that the server's own log says who was answered with which code. */
const LOG_CODES = { log_line_prefix: "%e %a " }

/** How often the server has answered with this code, to all sessions or to those of this name. */
function answered({ server }: World, code: string, name = ""): number {
  const lines = readFileSync(server.log, "utf8").split("\n")
  // What it adds to an answer has the same beginning.
  return lines.filter((line) => line.startsWith(`${code} ${name}`) && /(ERROR|FATAL): /.test(line)).length
}

const noSlots: Fault = {
  id: "F20",
  title: "no connection is to be had, and some are lost meanwhile",
  stage: {
    server: { settings: { max_connections: "120", ...LOG_CODES } },
    seconds: (asked) => Math.max(asked, 9),
  },
  strikes: ["slots taken", "sessions ended", "refusals of the server", "schedules that went on"],
  inject: async (world, chance, signal) => {
    let hoards = 0
    do {
      // First every process has its connections: enough to work with, however many others want one.
      await world.talk.session(async (ask) => {
        const hoard = await takeAllSlots(world.server.url)
        const before = await cursors(world, ask)
        await world.rest(chance.between(3_000, 4_000))
        const stuck = stuckSince(before, await cursors(world, ask))
        await hoard.release()
        world.struck("slots taken", hoard.many)
        world.struck("schedules that went on", before.size - stuck.length)
        if (stuck.length > 0)
          world.complain(
            violationText(
              "I24",
              `while no connection was to be had, these did not go on: ${stuck.join(", ")}.`,
            ),
          )
      })
      const ended = await endSessions(world, `${OURS} and random() < 0.4`)
      const hoard = await takeAllSlots(world.server.url)
      world.struck("sessions ended", ended)
      world.struck("slots taken", hoard.many)
      await world.rest(chance.between(1_000, 3_000))
      await hoard.release()
      hoards += 2
      await world.rest(500, signal)
    } while (!signal.aborted)
    // The last one that each hoarder asked for was refused as well.
    world.struck("refusals of the server", Math.max(0, answered(world, TOO_MANY) - hoards))
    world.struck("refusals that processes tell of", toldOf(world, TOO_MANY))
  },
}

const TOO_MANY = "53300"

/** How often processes have said that the server answered them with this code. */
function toldOf(world: World, code: string): number {
  const types = ["database.unreachable", "loop.failed"]
  const said = world.everybody().flatMap((member) => types.flatMap((type) => member.said(type)))
  return said.filter(({ error }) => `${error}`.includes(code)).length
}

const heldKeys: Fault = {
  id: "F24",
  title: "a transaction of a user holds a key and an occurrence that others want",
  strikes: ["keys held", "occurrences held"],
  inject: async (world, chance, signal) => {
    const s = `"${world.schema}"`
    do {
      const before = await cursors(world, world.talk.ask)
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
        // The next occurrences of one schedule: the scheduler that decides it has to wait.
        const held = await ask(
          `insert into ${s}.fires (schedule, occurrence, outcome, reason, decided_at, last)
           select id, next_occurrence + n * interval '1 second', 'skipped', 'chaos', now(),
             next_occurrence + n * interval '1 second'
           from ${s}.schedules, generate_series(1, 3) as n where name = 'all-1s' and next_occurrence is not null
           returning occurrence`,
        )
        world.struck("occurrences held", held.length)
        await world.rest(chance.between(3_000, 4_000))
        await ask("rollback")
      })
      const after = await cursors(world, world.talk.ask)
      const stuck = stuckSince(before, after).filter((name) => name !== "all-1s")
      if (stuck.length > 0)
        world.complain(
          violationText("I24", `while another was held, these did not go on: ${stuck.join(", ")}.`),
        )
      await world.rest(500, signal)
    } while (!signal.aborted)
  },
}

/** Of those that are due every second. */
async function cursors(world: World, ask: Talk["ask"]): Promise<Map<string, number>> {
  const rows = await ask(
    `select name, extract(epoch from cursor) as at from "${world.schema}".schedules where name ~ '^(all|latest)-'`,
  )
  return new Map(rows.map(({ name, at }) => [String(name), Number(at)]))
}

function stuckSince(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string[] {
  return [...before].filter(([name, at]) => after.get(name) === at).map(([name]) => name)
}

const lockedTables: Fault = {
  id: "F25",
  title: "a DBA locks whole tables for longer than a lease",
  stage: { seconds: (asked) => Math.max(asked, 8) },
  strikes: ["tables locked", "locks of runs"],
  expect: (world) => complaintsAboutExpiry(world, world.strikes.get("tables locked") ?? 0),
  inject: async (world, chance, signal) => {
    // First the locks that every process needs.
    let table = "runs"
    do {
      await world.talk.session(async (ask) => {
        await ask("begin")
        await ask(`lock table "${world.schema}".${table} in access exclusive mode`)
        await world.rest(chance.between(2_500, 4_000))
        await ask("rollback")
      })
      world.struck("tables locked")
      world.struck(`locks of ${table}`)
      table = chance.pick(["runs", "attempts", "schedules", "fires", "workers", "keys"])
      await world.rest(500, signal)
    } while (!signal.aborted)
  },
}

const DEADLOCK = "40P01"
/** A busy machine may have to be given longer until two of them meet. */
const PATIENCE_MS = 40_000
const VICTIMS = "deadlocks of which statements of ours were the victims"

const deadlocks: Fault = {
  id: "F26",
  title: "others lock the same rows in another order",
  stage: {
    rate: 60,
    server: { settings: { deadlock_timeout: "50ms", ...LOG_CODES } },
    seconds: (asked) => Math.max(asked, 8),
  },
  strikes: [VICTIMS],
  inject: async (world, chance, signal) => {
    const s = `"${world.schema}"`
    let rivals = 0
    const untilMs = performance.now() + PATIENCE_MS
    const isEnough = () =>
      signal.aborted && (performance.now() > untilMs || answered(world, DEADLOCK, "carillon") > 0)
    const rival = async (own: ReturnType<typeof chance.fork>) => {
      while (!isEnough()) {
        await world.talk
          .session(async (ask) => {
            await ask("begin")
            await ask("set local lock_timeout = '2s'")
            // The victim of a deadlock is the session that looks first. These sessions look so late that it is always
            // the other.
            await ask("set local deadlock_timeout = '10s'")
            const rows = await ask(
              `select id from ${s}.runs where ${s}.state(runs) in ('running', 'ready') order by id desc limit 12`,
            )
            for (const { id } of rows) {
              await ask(`select 1 from ${s}.runs where id = $1 for update`, [id])
              await world.rest(own.between(1, 15))
            }
            await ask("rollback")
          })
          .catch((error: { code?: string }) => {
            if (error.code === DEADLOCK) rivals += 1
          })
      }
    }
    await Promise.all(["one", "two", "three", "four"].map((name) => rival(chance.fork(name))))
    world.struck("deadlocks of the rivals", rivals)
    world.struck(VICTIMS, answered(world, DEADLOCK, "carillon"))
  },
}

export const sessions: readonly Fault[] = [terminated, deaf, noSlots, heldKeys, lockedTables, deadlocks]
