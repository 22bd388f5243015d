/** Notifications: lost, switched off, far too many, and none possible at all. */
import { createHash } from "node:crypto"
import { violationText } from "../../support/history/violation-text.ts"
import type { Fault } from "../fault.ts"
import { enqueueNowAndThen, SPARSE } from "../sparse-load.ts"
import type { World } from "../world.ts"

/** The channel that processes wake each other up by. */
function channelOf({ schema }: World): string {
  return `carillon_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`
}

/** A standby that is never there: a session that insists on it waits in the middle of its commit. No other does. */
const UNWATCHED = { synchronous_standby_names: "no_standby", synchronous_commit: "local" }
const LOOKS = 30
const LOOK_MS = 100
/** Waits for the lock of the whole database that a commit with a notification takes. Wake-ups may wait. */
const HELD_UP = `select query from pg_stat_activity where application_name <> 'nemesis'
  and wait_event_type = 'Lock' and wait_event = 'object' and query not ilike '%pg_notify(%'`

/** A foreign commit holds up every other commit that notifies. Those of Carillon go on: no session is seen to wait. */
async function commitBeside(world: World): Promise<void> {
  await world.talk.ask(`create table if not exists "${world.schema}".slow_commits (at timestamptz)`)
  const before = world.heard("transaction.committed")
  await world.talk.session(async (ask) => {
    const [{ pid } = {}] = await ask("select pg_backend_pid() as pid")
    await ask("set synchronous_commit = on")
    await ask("begin")
    await ask(`insert into "${world.schema}".slow_commits values (now())`)
    await ask("select pg_notify('other_channel', '')")
    const committed = ask("commit")
    const isWaiting = async () =>
      (
        await world.talk.ask("select 1 from pg_stat_activity where pid = $1 and wait_event = 'SyncRep'", [
          pid,
        ])
      ).length > 0
    if (await world.until(isWaiting, PATIENCE_MS)) {
      const waiting: string[] = []
      for (let look = 0; look < LOOKS; look += 1) {
        waiting.push(...(await world.talk.ask(HELD_UP)).map(({ query }) => String(query)))
        world.struck("looks at commits beside one that holds all notifications up")
        await world.rest(LOOK_MS)
      }
      for (const query of new Set(waiting))
        world.complain(`This was seen to wait for the notification of another session: ${query}.`)
    }
    // It is committed here, and told so.
    await world.talk.ask("select pg_cancel_backend($1)", [pid])
    await committed
  })
  world.struck("transactions of users committed beside it", world.heard("transaction.committed") - before)
}

const PATIENCE_MS = 10_000

const lostOrMany: Fault = {
  id: "F28",
  title: "notifications are lost, switched off, or far too many",
  stage: { ...SPARSE, proxied: true, server: { settings: UNWATCHED } },
  strikes: [
    "notifications dropped",
    "notifications sent in vain",
    "runs without a notification",
    "looks at commits beside one that holds all notifications up",
    "transactions of users committed beside it",
  ],
  mustJudge: ["I11"],
  inject: async (world, chance, signal) => {
    const silent = await world.add("worker", { wakeups: false })
    const hearing = world.workers().filter((worker) => worker !== silent)
    for (const { network } of hearing) {
      network?.obey(({ type }) => {
        if (type !== "A") return "pass"
        world.struck("notifications dropped")
        return "drop"
      })
    }
    world.struck("runs without a notification", await enqueueNowAndThen(world, chance))
    // One stays deaf. The others hear everything, and much that is not for them.
    for (const { network } of hearing.slice(1)) network?.pass()
    const own = chance.fork("flood")
    const payloads = () => [
      "",
      "x".repeat(7_000),
      "{",
      "null",
      `ready ${own.number()}`,
      "waiting",
      "cancelled 1",
    ]
    do {
      const rows = await world.talk.ask(
        "select count(pg_notify($1, $2 || n)) as many from generate_series(1, 500) as n",
        [channelOf(world), own.pick(payloads())],
      )
      world.struck("notifications sent in vain", Number(rows[0]?.["many"]))
      await world.rest(100, signal)
    } while (!signal.aborted)
    await commitBeside(world)
    await silent.call("ping")
  },
  heal: async (world) => {
    for (const { network } of world.everybody()) network?.pass()
  },
}

const COMMITTED = "transactions of users committed meanwhile"

const fullQueue: Fault = {
  id: "F29",
  title: "the queue of notifications is full",
  stage: { server: { settings: { max_notify_queue_pages: "64" } } },
  strikes: ["refused notifications", COMMITTED],
  inject: async (world, _chance, signal) => {
    await world.talk.session(async (ask) => {
      // A session that listens and never reads keeps all of them in the queue.
      await ask("listen other_channel")
      await ask("begin")
      await ask("select 1")
      let before: number | undefined
      while (!signal.aborted) {
        const refused = await world.talk
          .ask(
            "select count(pg_notify('other_channel', repeat('x', 7000) || n)) from generate_series(1, 60) as n",
          )
          .then(() => false)
          .catch((error: { code?: string }) => error.code === "54000")
        if (refused) {
          world.struck("refused notifications")
          before ??= world.heard("transaction.committed")
        }
        await world.rest(refused ? 200 : 5, signal)
      }
      if (before !== undefined) world.struck(COMMITTED, world.heard("transaction.committed") - before)
      await ask("commit")
    })
  },
  // Nothing else is broken here: a failing call fails because the notification was impossible.
  expect: (world) => [
    ...failures(world, "enqueue.failed", "enqueues"),
    ...failures(world, "transaction.failed", "transactions of users"),
  ],
}

function failures(world: World, type: string, what: string): string[] {
  const codes = world.everybody().flatMap((member) => member.said(type).map(({ code }) => String(code)))
  const kinds = [...new Set(codes)].join(", ")
  return codes.length === 0
    ? []
    : [violationText("I19", `${codes.length} ${what} failed under a full queue: ${kinds}.`)]
}

export const notifications: readonly Fault[] = [lostOrMany, fullQueue]
