import { describe, expect, it } from "vitest"
import { pauseCalls } from "../../src/api/pauses/pauses.ts"
import type { By } from "../../src/engine/by.ts"
import type { OptionsError } from "../../src/errors.ts"
import { pause as pauseNoun } from "../../src/operations/pauses/pause.ts"
import { resume as resumeNoun } from "../../src/operations/pauses/resume.ts"
import { perform } from "../../src/operations/perform.ts"
import type { PauseKind } from "../../src/queue/pause-kind.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import type { Database } from "../../src/store/database.ts"
import { describeEngines } from "../support/engines.ts"
import { openStage } from "../support/parking.ts"
import { rowsOf } from "../support/sql.ts"

const ada = { actor: "ada", reason: "the mail server is down" }
const bob = { actor: "bob", reason: "it is up again" }

/** Calls are checked before they touch the engine, and the list needs none. */
const without = (runtime: Runtime) => ({
  ...{ runtime, engine: undefined as never, actor: "a test", migrated: [] },
  stopping: new AbortController().signal,
})
const listPauses = (runtime: Runtime) => pauseCalls.list(without(runtime))
type Target = readonly [PauseKind, string]
const JOB: Target = ["job", "mail"]
const POOL: Target = ["pool", "mail"]
const TENANT: Target = ["tenant", "mail"]
const EVERYTHING: Target = ["everything", ""]
const pause = (
  runtime: Runtime,
  [kind, name]: Target,
  by: By,
  end: { until?: Date; forMs?: number } = {},
) => {
  const ends = { until: end.until?.getTime() ?? null, forMs: end.forMs ?? null }
  return perform(() => {}, pauseNoun(runtime, { kind, name, by, ...ends, jobs: new Set(["mail"]) }))
}
const resume = (runtime: Runtime, [kind, name]: Target, by: By) =>
  perform(() => {}, resumeNoun(runtime, { kind, name, by, rampMs: null }))

const audit = (database: Database) =>
  rowsOf(
    database,
    "select at, actor, action, subject, reason, before, after from {audit} order by at, action",
  )

describeEngines("pauses", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("are of jobs, pools, tenants and everything, and are listed with actor, times and reason", async () => {
    const { runtime, clock } = await openStage(engine)
    await pause(runtime, POOL, ada)
    await clock.set("2026-03-01T10:00Z")
    await pause(runtime, JOB, bob)
    await pause(runtime, TENANT, bob, { until: new Date("2026-03-01T12:00Z") })
    await pause(runtime, EVERYTHING, ada, { forMs: 60_000 })
    expect(await listPauses(runtime)).toEqual([
      {
        kind: "everything",
        pausedAt: new Date("2026-03-01T10:00Z"),
        until: new Date("2026-03-01T10:01Z"),
        ...ada,
      },
      { kind: "job", name: "mail", pausedAt: new Date("2026-03-01T10:00Z"), ...bob },
      { kind: "pool", name: "mail", pausedAt: new Date("2026-03-01T09:00Z"), ...ada },
      {
        ...{ kind: "tenant", name: "mail", ...bob },
        ...{ pausedAt: new Date("2026-03-01T10:00Z"), until: new Date("2026-03-01T12:00Z") },
      },
    ])
  })

  it("get another end from a later call, and keep their beginning", async () => {
    const { runtime, database, clock } = await openStage(engine)
    await pause(runtime, POOL, ada)
    await clock.set("2026-03-01T10:00Z")
    const until = new Date("2026-03-01T12:00Z")
    expect(await pause(runtime, POOL, bob, { until })).toBe(true)
    expect(await pause(runtime, POOL, ada, { until })).toBe(false)
    expect(await listPauses(runtime)).toEqual([
      { kind: "pool", name: "mail", pausedAt: new Date("2026-03-01T09:00Z"), until, ...bob },
    ])
    expect(await pause(runtime, POOL, ada)).toBe(true)
    expect((await listPauses(runtime))[0]).not.toHaveProperty("until")
    expect(await audit(database)).toHaveLength(3)
  })

  it("are refused with an end in the past, by the clock of the database", async () => {
    const { runtime, database } = await openStage(engine)
    const refused = pause(runtime, POOL, ada, { until: new Date("2026-03-01T08:59Z") })
    await expect(refused).rejects.toThrow("until: expected an instant in the future")
    expect(await listPauses(runtime)).toEqual([])
    expect(await audit(database)).toEqual([])
  })

  it("begin and end once: a repetition changes nothing and is not recorded", async () => {
    const { runtime, database } = await openStage(engine)
    expect(await pause(runtime, JOB, ada)).toBe(true)
    expect(await pause(runtime, JOB, bob)).toBe(false)
    expect(await listPauses(runtime)).toMatchObject([ada])
    expect(await resume(runtime, JOB, bob)).toBe(true)
    expect(await resume(runtime, JOB, ada)).toBe(false)
    expect(await resume(runtime, POOL, ada)).toBe(false)
    expect(await listPauses(runtime)).toEqual([])
    expect(await audit(database)).toHaveLength(2)
  })

  it("are recorded with their former state", async () => {
    const { runtime, database, clock } = await openStage(engine)
    await pause(runtime, POOL, ada)
    await clock.set("2026-03-01T10:00Z")
    await resume(runtime, POOL, bob)
    const was = { kind: "pool", name: "mail", paused_at: "2026-03-01T09:00:00+00:00", ends_at: null, ...ada }
    expect(await audit(database)).toEqual([
      {
        at: "2026-03-01T09:00:00+00:00",
        action: "pool.paused",
        subject: "pool:mail",
        ...ada,
        before: null,
        after: was,
      },
      {
        at: "2026-03-01T10:00:00+00:00",
        action: "pool.resumed",
        subject: "pool:mail",
        ...bob,
        before: was,
        after: null,
      },
    ])
  })

  itWithConnections("by concurrent calls are made by one of them, and ended by one of them", async () => {
    const { runtime, database } = await openStage(engine)
    const people = Array.from({ length: 8 }, (_, index) => ({ actor: `person ${index}`, reason: "to see" }))
    for (const act of [pause, resume]) {
      const made = await Promise.all(people.map((person) => act(runtime, JOB, person)))
      expect(made.filter(Boolean)).toHaveLength(1)
    }
    expect(await audit(database)).toHaveLength(2)
  })

  describe("are refused, with every fault and before anything is written,", () => {
    it.each([
      ["job", "", ada, ["name: expected a non-empty text"]],
      ["job", "a b", {}, ["name: expected letters"]],
      ["pool", "p".repeat(101), ada, ["name: expected at most 100 characters"]],
      ["tenant", "", ada, ["name: expected a text of 1 to 200 characters"]],
      ["job", "a", { actor: " ", reason: "\0" }, ["options.actor: expected a text", "options.reason"]],
      ["job", "a", null, ["options: expected a plain object"]],
      ["job", "a", { untill: new Date() }, ["options.untill: unknown option"]],
    ] as const)("as a %s %j with %j", async (kind, name, options, faults) => {
      const { runtime, database } = await openStage(engine)
      for (const act of Object.values(pauseCalls[kind]))
        await expectFaults(act(without(runtime), name, options as never), faults)
      expect(await audit(database)).toEqual([])
    })

    it.each([
      [{ until: "soon" }, ["options.until: expected a valid Date"]],
      [{ until: new Date(), for: "1h" }, ["options.for: expected either `until` or `for`, got both"]],
      [{ for: 0 }, ["options.for: expected at least 1 ms"]],
    ])("with the end %j", async (end, faults) => {
      const { runtime, database } = await openStage(engine)
      await expectFaults(pauseCalls.pool.pause(without(runtime), "mail", end as never), faults)
      await expectFaults(pauseCalls.everything.pause(without(runtime), end as never), faults)
      expect(await audit(database)).toEqual([])
    })
  })
})

async function expectFaults(call: Promise<unknown>, faults: readonly string[]): Promise<void> {
  const refused = await call.catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: "OPTIONS_INVALID" })
  const said = (refused as OptionsError).faults.map(({ path, message }) => `${path}: ${message}`)
  expect(said).toHaveLength(faults.length)
  for (const [index, fault] of faults.entries()) expect(said[index]).toContain(fault)
}
