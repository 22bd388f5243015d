import { describe, expect, it } from "vitest"
import { cancelRun } from "../../src/store/runs/cancel.ts"
import { findCancelled } from "../../src/store/runs/find-cancelled.ts"
import { describeEngines } from "../support/engines.ts"
import {
  claim,
  claimNewRun,
  everythingAbout,
  finish,
  host,
  insert,
  type NewRun,
  openLease,
  type Runner,
  release,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

const cancel = (on: Runner, id: string | undefined) =>
  on.run(cancelRun, { id: id ?? "", code: "RUN_CANCELLED", message: "not wanted" })

describeEngines("a run that is cancelled", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it.each<[string, NewRun, string]>([
    ["waiting", { delayMs: 1_000 }, "select"],
    ["ready", {}, "select"],
    ["parked", {}, "update {runs} set stage = 'parked', parked_for = 'pause'"],
  ])(
    "while it is %s ends at once, in history and with everything that it held",
    async (state, run, change) => {
      const { database, clock } = await withStoppedClock(engine)
      const said = {
        ...run,
        key: "k",
        tenant: "ada",
        history: "short",
        limits: { a: "x", b: "y" },
        input: "[1]",
      }
      const [id] = await insert(database, said)
      await execute(
        database,
        `update {runs} set attempt = 2, generation = 3, cause = 'why', schedule = 's', occurrence = {now},
         priority = 4, tags = array['x'], timeout_ms = 5, missed = '{"count":2}',
         stage = case when stage = 'parked' then 'queued' else stage end, parked_for = null;
       ${change}; insert into {keys} values ('ada', 'greet', 'k', '${id}', null)`,
      )
      const due = await runOf(database, id)
      await clock.set("2026-03-01T09:01Z")
      const [row] = await cancel(database, id)
      expect(row).toEqual({
        ...{
          state,
          job: "greet",
          pool: "default",
          tenant: "ada",
          generation: 3,
          lease: null,
          was_cancelling: false,
        },
        limit_keys: expect.any(String),
      })
      expect(JSON.parse(row?.limit_keys ?? "").toSorted()).toEqual(["a", "b"])
      expect(await everythingAbout(database, id)).toEqual({
        ...{ run: undefined, letters: [], keys: [], limits: [] },
        attempts: [
          {
            ...{
              run: id,
              claim: null,
              lease: null,
              attempt: 3,
              generation: 3,
              job: "greet",
              pool: "default",
            },
            ...{ tenant: "ada", history: "short", schedule: "s", occurrence: "2026-03-01T09:00:00+00:00" },
            ...{ enqueued_at: "2026-03-01T09:00:00+00:00", due_at: due?.["due_at"], started_at: null },
            ...{ finished_at: "2026-03-01T09:01:00+00:00", outcome: "cancelled", run_state: "cancelled" },
            ...{
              input: [1],
              result: null,
              charged: false,
              cause: "why",
              worker: null,
              version: null,
              logs: null,
            },
            ...{ error_code: "RUN_CANCELLED", error_message: "not wanted", error_stack: null },
            ...{ fingerprint: null, priority: 4, key: "k", tags: ["x"], timeout_ms: 5, missed: { count: 2 } },
          },
        ],
      })
    },
  )

  it("while it is running is only marked, and its worker can read the mark", async () => {
    const { database } = await withStoppedClock(engine)
    const [one, other] = [await claimNewRun(database), await claimNewRun(database)]
    const before = await everythingAbout(database, one.id)
    expect(await cancel(database, one.id)).toMatchObject([
      { state: "running", lease: one.lease, was_cancelling: false, limit_keys: null },
    ])
    expect(await everythingAbout(database, one.id)).toEqual({
      ...before,
      run: { ...before.run, cancelling: true },
    })
    expect(await database.run(findCancelled, { lease: one.lease })).toEqual([
      { id: one.id, is_replaced: false, cancelled_by: null },
    ])
    expect(await database.run(findCancelled, { lease: other.lease })).toEqual([])
    expect(await cancel(database, one.id)).toMatchObject([{ state: "running", was_cancelling: true }])
    await finish(database, one)
    expect(await database.run(findCancelled, { lease: one.lease })).toEqual([])
  })

  it("after its end, or with an unknown id, is left as it is", async () => {
    const { database } = await withStoppedClock(engine)
    const claimed = await claimNewRun(database)
    await finish(database, claimed)
    const before = await everythingAbout(database, claimed.id)
    expect(await cancel(database, claimed.id)).toEqual([])
    expect(await everythingAbout(database, claimed.id)).toEqual(before)
    expect(await cancel(database, host.newId())).toEqual([])
  })

  it("frees its own key and no other: not a timed key, nor one that another run holds", async () => {
    const { database } = await withStoppedClock(engine)
    const [timed, robbed] = await insert(database, { key: "a" }, { key: "b" })
    await execute(
      database,
      `insert into {keys} values ('', 'greet', 'a', '${timed}', {now} + interval '1 hour'),
         ('', 'greet', 'b', '${host.newId()}', null)`,
    )
    await cancel(database, timed)
    await cancel(database, robbed)
    expect(await rowsOf(database, "select key from {keys} order by key")).toEqual([
      { key: "a" },
      { key: "b" },
    ])
  })

  itWithConnections("is never claimed again", async () => {
    const { database } = await withStoppedClock(engine)
    const [id] = await insert(database, {})
    const lease = await openLease(database)
    const cancelling = await hold(database, (tx) => cancel(tx, id))
    expect((await claim(database, lease)).ids).toEqual([])
    await cancelling.release()
    expect((await claim(database, lease)).ids).toEqual([])
  })

  describe("in a race", () => {
    itWithConnections("is found running when a claim was in flight", async () => {
      const { database } = await withStoppedClock(engine)
      const [id] = await insert(database, {})
      const lease = await openLease(database)
      const claiming = await hold(database, (tx) => claim(tx, lease))
      const cancelling = cancel(database, id)
      await untilBlocked(await engine.open(database.schema))
      await claiming.release()
      expect(await cancelling).toMatchObject([{ state: "running", lease }])
      expect(await runOf(database, id)).toMatchObject({ state: "running", cancelling: true })
    })

    itWithConnections(
      "is gone when a settle was in flight, and ends at once when it comes back",
      async () => {
        const { database } = await withStoppedClock(engine)
        for (const [settle, answer] of [
          [finish, []],
          [release, [{ state: "ready" }]],
        ] as const) {
          const claimed = await claimNewRun(database)
          const settling = await hold(database, (tx) => settle(tx, claimed))
          const cancelling = cancel(database, claimed.id)
          await untilBlocked(await engine.open(database.schema))
          await settling.release()
          expect(await cancelling).toMatchObject(answer)
          expect(await runOf(database, claimed.id)).toBeUndefined()
        }
      },
    )

    itWithConnections("ends once, whichever of many calls was first", async () => {
      const { database } = await withStoppedClock(engine)
      const [id] = await insert(database, {})
      const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(database, id)))
      expect(answers.flat()).toHaveLength(1)
      expect((await everythingAbout(database, id)).attempts).toHaveLength(1)
    })
  })
})
