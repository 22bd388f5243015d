import { expect, it } from "vitest"
import type { Transaction } from "../../src/store/database.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { reapRuns } from "../../src/store/runs/reap.ts"
import { recordProgress } from "../../src/store/runs/record-progress.ts"
import { ways } from "../support/attempt-ends.ts"
import { describeEngines } from "../support/engines.ts"
import { sweep } from "../support/limits.ts"
import { ACTS, KINDS } from "../support/run-life.ts"
import { enqueueMany, expectSound, look, openIdleLease } from "../support/run-life-stage.ts"
import { claim, EVER, killLease, settle, withStoppedClock } from "../support/runs.ts"
import { rowsOf } from "../support/sql.ts"

const ACTORS = 8
const STEPS = 100
const RUNS = 24
/** Every operation on a run, at random, from many processes at once. */
const ANYBODY = [
  "expedite",
  "cancel",
  "replay",
  "discard",
  "resume",
  "pause its job",
  "miss its handler",
  "find a handler",
]

/** Most attempts lead to another one, or there would soon be no runs left. */
const again = ways.filter(([, { state }]) => state === "waiting" || state === "ready")

/** A fixed sequence of numbers that look random. */
function diceOf(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * sides)
  }
}

describeEngines("all operations at once", (engine) => {
  it("lose no run, end every claim once, and leave no rows behind", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const kinds = Array.from({ length: RUNS }, (_, index) => KINDS[index % KINDS.length] ?? "plain")
    const lives = await enqueueMany(database, kinds)
    await clock.set("2026-03-01T09:00:10Z")
    const lifeOf = new Map(lives.map((life) => [life.id, life]))
    const fences = new Map<string, { lease: string; claim: bigint }>()
    /** The attempts that their workers heard were recorded. */
    const told: string[] = []

    async function act(seed: number): Promise<void> {
      const roll = diceOf(seed)
      let lease = await openIdleLease(database)
      let held: { id: string; claim: bigint }[] = []
      // In transactions, which are never repeated: a deadlock would show.
      const doing = <T>(body: (tx: Transaction) => Promise<T>) => database.transaction(body)
      const deeds: (() => Promise<unknown>)[] = [
        async () => {
          const taken = await doing((tx) => claim(tx, lease, { limit: 1 + roll(6) }))
          for (const id of taken.ids) {
            lifeOf.get(id)?.drawn.push(taken.claim)
            held.push({ id, claim: taken.claim })
            fences.set(id, { lease, claim: taken.claim })
          }
        },
        async () => {
          const some = held.splice(0, 1 + roll(8)).toSorted(() => roll(3) - 1)
          const ends = some.map((run) => {
            const all = roll(6) === 0 ? ways : again
            return { ...run, ...all[roll(all.length)]?.[1], delayMs: 0 }
          })
          if (ends.length === 0) return
          const settled = await doing((tx) => settle(tx, lease, ends))
          for (const { id } of settled) told.push(`${id} ${some.find((run) => run.id === id)?.claim}`)
        },
        () => doing((tx) => tx.run(promoteRuns, { from: 0, to: EVER, limit: 5 })),
        () => sweep(database),
        async () => {
          // Its worker may be about to settle it.
          const [id, fence] = [...fences][roll(Math.max(1, fences.size))] ?? []
          if (id && fence) await doing((tx) => tx.run(recordProgress, { id, ...fence, progress: "1" }))
        },
        async () => {
          if (roll(4) > 0) return
          await database.run(killLease, { lease })
          await doing((tx) => tx.run(reapRuns, { leases: [lease], limit: 4 }))
          lease = await openIdleLease(database)
          held = []
        },
        async () => {
          const life = lives[roll(RUNS)]
          const name = ANYBODY[roll(ANYBODY.length)] ?? ""
          if (life) await doing(async (tx) => ACTS[name]?.perform(tx, life))
        },
      ]
      for (let step = 0; step < STEPS; step += 1) await deeds[roll(deeds.length)]?.()
    }

    await Promise.all(Array.from({ length: ACTORS }, (_, index) => act(index + 1)))
    const places =
      "select key, count(*)::int as n from {run_limits} where admitted group by key having count(*) > 1"
    expect(await rowsOf(database, places), "a cap of one").toEqual([])
    for (const life of lives) expectSound(life, await look(life), `${life.kind} run ${life.id}`)
    const attempts = await rowsOf(
      database,
      "select run || ' ' || claim as name from {attempts} where outcome <> 'lost'",
    )
    const written = new Set(attempts.map(({ name }) => name))
    expect(told.filter((name) => !written.has(name))).toEqual([])
    // Enough happened.
    expect(told.length).toBeGreaterThan(RUNS)
  })
})
