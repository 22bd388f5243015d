/** Where a claimer begins: behind what others are running, and never above what it could have had. */
import { describe, expect, it, onTestFinished } from "vitest"
import { createClaimLedger } from "../../src/engine/claim-ledger.ts"
import { createClaimer, type Wanted } from "../../src/engine/claimer.ts"
import { defineJob } from "../../src/index.ts"
import type { AnyJob } from "../../src/job/define.ts"
import { migrate } from "../../src/store/migrate.ts"
import { openServer } from "../../src/store/server/server.ts"
import { newSchema } from "../support/engines.ts"
import { PLACES } from "../support/places.ts"
import { claim, host, insert, openLease } from "../support/runs.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { watchDatabase } from "../support/watched-database.ts"

const job = defineJob({ name: "greet", run: async () => {} }) as AnyJob
const WANTED: Wanted = { limit: 10, free: 0, except: [] }

/** A claimer of a pool in which others are running all that there is. */
async function stage({ knowsLane } = { knowsLane: true }) {
  const database = watchDatabase(openServer(host, { url: PLACES.postgres18, schema: newSchema(host) }))
  onTestFinished(() => database.close())
  await migrate({ ...host, database })
  const mine = { id: await openLease(database), remainingMs: 60_000 }
  const lease = { id: () => mine.id, remainingMs: () => mine.remainingMs }
  const ledger = createClaimLedger()
  const claimer = createClaimer({
    runtime: { ...host, database, crashPoint: async () => {} } as never,
    pool: "default",
    jobs: new Map([["greet", job]]),
    lease: lease as never,
    claims: ledger,
    doubts: { add: () => {}, resolve: async () => {} },
  })
  await insert(database, ...Array(20).fill({}))
  await claim(database, await openLease(database), { limit: 20 })
  if (knowsLane) claimer.wake({ pool: "default", solo: false, priority: 0, rank: 1n })
  /** One that turns up at the bottom without a word. What a claim that goes on from its mark does not see. */
  const addAtTheBottom = () =>
    execute(
      database,
      `insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input)
       values ('${host.newId()}', 'greet', 'default', 0, 1, 'queued', {now}, {now}, '{}')`,
    )
  const found = async () => (await claimer.claim(WANTED)).runs.length
  return { claimer, database, ledger, mine, addAtTheBottom, found }
}

describe("a claimer that has found nothing from the bottom on", () => {
  it("goes on behind what others are running, and says that there is nothing", async () => {
    const { claimer, addAtTheBottom, found } = await stage()
    expect(await claimer.claim(WANTED)).toEqual({ runs: [], isEmpty: true })
    await addAtTheBottom()
    expect(await found()).toBe(0)
    claimer.wake(undefined)
    expect(await found()).toBe(1)
  })

  it.each<[string, (parts: Awaited<ReturnType<typeof stage>>) => Promise<unknown>]>([
    [
      "its lease was lost meanwhile",
      async ({ mine, database, claimer }) => {
        database.meddle("runs/claim", async (run) => {
          const rows = await run()
          mine.id = await openLease(database)
          return rows
        })
        return claimer.claim(WANTED)
      },
    ],
    [
      "its lease was over",
      async ({ mine, claimer }) => {
        mine.remainingMs = 0
        return claimer.claim(WANTED)
      },
    ],
    [
      "it was told meanwhile that something may have been missed",
      async ({ database, claimer }) => {
        database.meddle("runs/claim", async (run) => {
          claimer.wake(undefined)
          return run()
        })
        return claimer.claim(WANTED)
      },
    ],
    [
      "some of it may be claimed only later",
      async ({ claimer }) => claimer.claim({ ...WANTED, except: [host.newId()] }),
    ],
  ])("passes nothing if %s", async (_, lookThrough) => {
    const parts = await stage()
    await lookThrough(parts)
    await parts.addAtTheBottom()
    expect(await parts.found()).toBe(1)
  })
})

it("a claimer takes away the notes of claims that have ended, when there are many of them", async () => {
  const { claimer, database, ledger, mine } = await stage({ knowsLane: false })
  await execute(
    database,
    `insert into {claims} select '${mine.id}', n, array[gen_random_uuid()] from generate_series(1, 100) as n`,
  )
  for (let claim = 1n; claim <= 100n; claim += 1n) {
    // A few are not worth a statement.
    await claimer.forgetEnded()
    expect(database.count("claims/forget-ended")).toBe(0)
    ledger.open({ lease: mine.id, claim }, 1)
    ledger.end({ lease: mine.id, claim })
  }
  await claimer.forgetEnded()
  expect(await rowsOf(database, `select from {claims} where lease = '${mine.id}'`)).toEqual([])
})
