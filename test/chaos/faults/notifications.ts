/** Notifications: lost, switched off, far too many, and none possible at all. */
import { createHash } from "node:crypto"
import { breach } from "../../support/history/breach.ts"
import type { Fault } from "../fault.ts"
import { enqueueNowAndThen, SPARSE } from "../sparse.ts"
import type { World } from "../world.ts"

/** The channel that processes wake each other up by. */
function channelOf({ schema }: World): string {
  return `carillon_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`
}

const lostOrMany: Fault = {
  id: "F28",
  title: "notifications are lost, switched off, or far too many",
  stage: { ...SPARSE, proxied: true },
  strikes: ["notifications dropped", "notifications sent in vain", "runs that nobody was told of"],
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
    world.struck("runs that nobody was told of", await enqueueNowAndThen(world, chance))
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
      // One who listens and never comes to hear it keeps all of them in the queue.
      await ask("listen nobody")
      await ask("begin")
      await ask("select 1")
      let before: number | undefined
      while (!signal.aborted) {
        const refused = await world.talk
          .ask("select count(pg_notify('nobody', repeat('x', 7000) || n)) from generate_series(1, 60) as n")
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
  // Nothing else is broken here: whoever fails fails because nobody could be notified.
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
    : [breach("I19", `${codes.length} ${what} failed under a full queue: ${kinds}.`)]
}

export const notifications: readonly Fault[] = [lostOrMany, fullQueue]
