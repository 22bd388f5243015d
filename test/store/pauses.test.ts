import { describe, expect, it } from "vitest"
import { type PauseTarget, pauseCalls } from "../../src/api/pauses.ts"
import type { By } from "../../src/engine/by.ts"
import { pause as pauseNoun } from "../../src/operations/pauses/pause.ts"
import { resume as resumeNoun } from "../../src/operations/pauses/resume.ts"
import { perform } from "../../src/operations/perform.ts"
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
const nounOf = (target: PauseTarget) =>
  "job" in target ? { kind: "job" as const, name: target.job } : { kind: "pool" as const, name: target.pool }
const pause = (runtime: Runtime, target: PauseTarget, by: By) =>
  perform(() => {}, pauseNoun(runtime, { ...nounOf(target), by, jobs: new Set(["mail"]) }))
const resume = (runtime: Runtime, target: PauseTarget, by: By) =>
  perform(() => {}, resumeNoun(runtime, { ...nounOf(target), by }))

const audit = (database: Database) =>
  rowsOf(
    database,
    "select at, actor, action, subject, reason, before, after from {audit} order by at, action",
  )

describeEngines("pauses", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("are of jobs and of pools, and are listed with actor, time and reason", async () => {
    const { runtime, clock } = await openStage(engine)
    await pause(runtime, { pool: "mail" }, ada)
    await clock.set("2026-03-01T10:00Z")
    await pause(runtime, { job: "mail" }, bob)
    expect(await listPauses(runtime)).toEqual([
      { kind: "job", name: "mail", pausedAt: new Date("2026-03-01T10:00Z"), ...bob },
      { kind: "pool", name: "mail", pausedAt: new Date("2026-03-01T09:00Z"), ...ada },
    ])
  })

  it("begin and end once: a repetition changes nothing and is not recorded", async () => {
    const { runtime, database } = await openStage(engine)
    expect(await pause(runtime, { job: "mail" }, ada)).toBe(true)
    expect(await pause(runtime, { job: "mail" }, bob)).toBe(false)
    expect(await listPauses(runtime)).toMatchObject([ada])
    expect(await resume(runtime, { job: "mail" }, bob)).toBe(true)
    expect(await resume(runtime, { job: "mail" }, ada)).toBe(false)
    expect(await resume(runtime, { pool: "mail" }, ada)).toBe(false)
    expect(await listPauses(runtime)).toEqual([])
    expect(await audit(database)).toHaveLength(2)
  })

  it("are recorded with their former state", async () => {
    const { runtime, database, clock } = await openStage(engine)
    await pause(runtime, { pool: "mail" }, ada)
    await clock.set("2026-03-01T10:00Z")
    await resume(runtime, { pool: "mail" }, bob)
    const was = { kind: "pool", name: "mail", paused_at: "2026-03-01T09:00:00+00:00", ...ada }
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
      const made = await Promise.all(people.map((person) => act(runtime, { job: "mail" }, person)))
      expect(made.filter(Boolean)).toHaveLength(1)
    }
    expect(await audit(database)).toHaveLength(2)
  })

  describe("are refused, with every fault and before anything is written,", () => {
    it.each([
      [{}, ada, ["target: expected either { job } or { pool }, got an object"]],
      [{ job: "a", pool: "b" }, ada, ["target: expected either { job } or { pool }, got an object"]],
      ["mail", ada, ['target: expected either { job } or { pool }, got "mail"']],
      [{ job: "" }, ada, ["target.job: expected a non-empty text"]],
      [{ jobs: "mail" }, ada, ["target: expected either { job } or { pool }, got an object"]],
      [{ pool: "p".repeat(101) }, ada, ["target.pool: expected at most 100 characters"]],
      [{ job: "a", because: 1 }, ada, ["target.because: unknown option"]],
      [{ job: "a b" }, {}, ["target.job: expected letters"]],
      [{ job: "a" }, { actor: " ", reason: "\0" }, ["by.actor: expected a text", "by.reason"]],
      [{ job: "a" }, null, ["by: expected a plain object"]],
    ])("as %j by %j", async (target, by, faults) => {
      const { runtime, database } = await openStage(engine)
      for (const act of [pauseCalls.pause, pauseCalls.resume]) {
        const refused = await act(without(runtime), target as never, by as never).catch((error) => error)
        expect(refused).toMatchObject({ code: "OPTIONS_INVALID" })
        const said = refused.faults.map(({ path, message }: Record<string, string>) => `${path}: ${message}`)
        expect(said).toHaveLength(faults.length)
        for (const [index, fault] of faults.entries()) expect(said[index]).toContain(fault)
      }
      expect(await audit(database)).toEqual([])
    })
  })
})
