/** Processes at work on a healthy server: the history checker finds every promise kept, and evidence for each. */
import pg from "pg"
import { expect, it, onTestFinished } from "vitest"
import { createCarillonOn } from "../../src/api/carillon.ts"
import { defineJob } from "../../src/index.ts"
import type { EventListener } from "../../src/observe/events.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { openServer } from "../../src/store/server/server.ts"
import { newSchema } from "../support/engines.ts"
import { describeExamination, examine } from "../support/history/check.ts"
import type { Asked, Entry } from "../support/history/operations.ts"
import type { Recorder } from "../support/history/record.mjs"
import { claimOf, recordEvents, recordHandler } from "../support/history/record-events.mjs"
import { readFinal } from "../support/process/final-read.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, rowsOf, untilRows } from "../support/sql.ts"
import { SILENT } from "../support/watched-app.ts"

const BY = { actor: "test", reason: "to see" }
const URL = () => SERVER_URLS.postgres18

/** A schema with two processes and an observer, which all write into one history. */
async function stage() {
  const system = createSystemHost()
  const schema = newSchema(system)
  const history: Entry[] = []
  const recorder = (pid: number): Recorder["record"] => {
    let seq = 0
    return (op, data) => {
      history.push({ op, ...data, ns: process.hrtime.bigint(), pid, seq } as unknown as Entry)
      seq += 1
    }
  }
  const database = openServer(system, { url: URL(), schema })
  onTestFinished(() => database.close())

  function spawn(pid: number) {
    const record = recorder(pid)
    /** Which clock or counter the next id is for. */
    let asks: Asked = {}
    const newId = () => {
      const run = system.newId()
      record("enq_invoke", { run, ...asks })
      return run
    }
    const work = defineJob({
      name: "work",
      retry: { attempts: 3, delay: 300 },
      run: recordHandler(record, async (input: unknown, ctx) => {
        const { ms = 0, failures = 0 } = input as { ms?: number; failures?: number }
        if (ms > 0) await system.sleep(ms, ctx.signal)
        if (ctx.attempt <= failures) throw new Error("not yet")
      }),
    })
    const narrow = defineJob({
      name: "narrow",
      concurrency: 2,
      run: recordHandler(record, async (_: unknown, ctx) => system.sleep(20, ctx.signal)),
    })
    const book = defineJob({
      name: "book",
      run: recordHandler(record, async (_: unknown, ctx) =>
        ctx.transaction(async (tx) => {
          const claim = claimOf(ctx.attemptId)
          await tx.query(`insert into "${schema}".finishes (run, claim) values ($1, $2)`, [ctx.runId, claim])
        }),
      ),
    })
    const carillon = createCarillonOn(
      { ...system, newId },
      { database: URL(), schema, jobs: [work, narrow, book], lease: "5s", logger: SILENT },
    )
    carillon.subscribe(recordEvents(record) as EventListener)
    onTestFinished(() => carillon.stop())
    const enqueue = async (job: typeof work, input: unknown, asked: Asked, options = {}) => {
      asks = { job: job.name, attempts: 5, ...asked }
      const handle = await carillon.enqueue(job, input, options)
      asks = {}
      record("enq_ok", { run: handle.id, created: handle.created })
      return handle
    }
    const stop = async () => {
      record("stop_invoke", { graceMs: 5_000 })
      await carillon.stop({ grace: "5s" })
      record("stop_ok", {})
    }
    return { carillon, record, enqueue, stop, work, narrow, book }
  }

  return { schema, history, database, recorder, spawn }
}

type Stage = Awaited<ReturnType<typeof stage>>

/** An observer that looks at every run. */
function observerOf({ database, recorder }: Stage) {
  const record = recorder(9)
  const us = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint`
  return {
    record,
    look: async () => {
      const cursors = await rowsOf(
        database,
        `select id, version, ${us("cursor")} as "cursorUs" from {schedules}`,
      )
      for (const { id, version, cursorUs } of cursors)
        record("cursor", { schedule: String(id), version: Number(version), cursorUs: Number(cursorUs) })
      const [count] = await rowsOf(
        database,
        `with ends as (select run_state as state, run as id from {attempts} where run_state is not null),
          all_runs as (select {schema}.state(runs), id from {runs} union all select state, id from ends)
        select (
            select json_object_agg(state, n)
            from (select state, count(*) as n from all_runs group by state) as s
          ) as states,
          (select count(distinct id) from all_runs) as enqueued`,
      )
      const states = (count?.["states"] ?? {}) as Record<string, number>
      record("count", { states, enqueued: Number(count?.["enqueued"]) })
    },
  }
}

it("processes keep every promise that a minute can judge, with evidence for each", {
  timeout: 60_000,
}, async () => {
  const world = await stage()
  const { schema, history, database, spawn } = world
  const [one, two] = [spawn(1), spawn(2)]
  await one.carillon.migrate()
  await execute(
    database,
    "create table {marks} (mark text primary key, run uuid); create table {finishes} (run uuid, claim text)",
  )
  const { record: note, look } = observerOf(world)
  await one.carillon.start()
  await two.carillon.start()

  await one.carillon.schedules.put({
    name: "each second",
    job: one.work,
    input: {},
    every: "1s",
    overlap: "allow",
  })
  await one.carillon.schedules.put({ name: "alone", job: one.work, input: { ms: 900 }, cron: "* * * * * *" })
  one.record("sched_put", { schedule: "each second", version: 1 })

  const retry = { delayMs: 300 }
  const limits = [{ key: "narrow", cap: 2 }]
  const handles = [
    ...(await Promise.all(
      [1, 2, 3].map((failures) => one.enqueue(one.work, { failures }, { retry, attempts: 3 })),
    )),
    ...(await Promise.all([1, 2, 3, 4, 5, 6].map(() => two.enqueue(two.narrow, {}, { limits })))),
    ...(await Promise.all([1, 2, 3].map(() => two.enqueue(two.book, {}, {})))),
    await one.enqueue(one.work, {}, { key: "k" }, { key: "k" }),
    await one.enqueue(one.work, {}, { delayMs: 500 }, { delay: 500 }),
  ]
  const held = await one.enqueue(one.work, {}, { key: "held" }, { key: "held", delay: 60_000 })
  expect((await two.enqueue(two.work, {}, { key: "held" }, { key: "held" })).id).toBe(held.id)

  const client = new pg.Client(URL())
  await client.connect()
  onTestFinished(() => client.end())
  for (const [mark, end] of [
    ["kept", "commit"],
    ["undone", "rollback"],
  ] as const) {
    await client.query("begin")
    const { id: run } = await one.carillon.enqueue(one.work, {}, { tx: client })
    one.record("tx_invoke", { run, mark })
    await client.query(`insert into "${schema}".marks values ($1, $2)`, [mark, run])
    await client.query(end)
    one.record(end === "commit" ? "tx_ok" : "tx_fail", { run, mark })
  }
  await look()

  const long = await one.enqueue(one.work, { ms: 30_000 }, {})
  await two.carillon.schedules.pause("each second", BY)
  two.record("sched_pause", { schedule: "each second" })
  note("quiet_from", {})
  const quick = await Promise.all([1, 2, 3].map(() => two.enqueue(two.work, {}, {})))
  await Promise.allSettled([...handles, ...quick].map((handle) => handle.result()))
  note("quiet_to", {})
  for (const { id: run } of [held, long]) {
    one.record("cancel_invoke", { run })
    await one.carillon.runs.cancel(run, BY)
    one.record("cancel_ok", { run, withinMs: 5_000 })
  }
  await Promise.allSettled([held.result(), long.result()])
  note("reader_from", {})
  for (let cursor: string | undefined, isLast = false; !isLast; ) {
    const page = await two.carillon.runs.list({ limit: 5, ...(cursor !== undefined && { cursor }) })
    for (const { id: run } of page.items) note("seen", { run })
    cursor = page.nextCursor
    isLast = cursor === undefined
  }
  note("reader_done", {})
  await untilRows(database, "select from {schedules} where paused_at < {now} - interval '2.5 seconds'")
  await two.carillon.schedules.resume("each second", BY)
  await one.carillon.schedules.put({ name: "alone", job: one.work, input: {}, cron: "*/2 * * * * *" })
  const since = "select from {schedules} where changed_at < {now} - interval '2.5 seconds'"
  await untilRows(database, since)
  for (const name of ["each second", "alone"]) await two.carillon.schedules.pause(name, BY)
  await look()
  note("healed", {})
  await Promise.all([one.stop(), two.stop()])
  const [sessions] = await rowsOf(
    database,
    `select count(*) as open, count(*) filter (where state = 'idle in transaction') as idle,
      (select count(*) from pg_locks where locktype = 'advisory' and pid = any (array_agg(session.pid))) as locks
    from pg_stat_activity as session where position('${schema}' in query) > 0 and pid <> pg_backend_pid()`,
  )
  note("sessions", {
    open: Number(sessions?.["open"]),
    idleInTransaction: Number(sessions?.["idle"]),
    advisoryLocks: Number(sessions?.["locks"]),
    // Two processes with 8, 2 and 10 connections and one that listens each, and the test's own.
    most: 43,
  })

  const examination = examine(history, await readFinal(database))
  expect(examination.violations, describeExamination(examination)).toEqual([])
  // No answer is lost here, no worker is alone, and no clock is wrong.
  expect(examination.notJudged, describeExamination(examination)).toEqual(["I3", "I16", "I28"])
})

it("one worker starts its backlog in order", async () => {
  const { history, database, spawn } = await stage()
  const [client, worker] = [spawn(1), spawn(2)]
  await client.carillon.migrate()
  const handles = []
  for (let count = 0; count < 40; count += 1) {
    const priority = count % 3
    handles.push(await client.enqueue(client.work, {}, { priority }, { priority }))
  }
  await worker.carillon.start()
  await Promise.all(handles.map(({ id }) => worker.carillon.runs.wait(id)))
  await worker.stop()
  const examination = examine(history, await readFinal(database))
  expect(examination.violations, describeExamination(examination)).toEqual([])
  expect(examination.judged.I16).toBe(40)
})
