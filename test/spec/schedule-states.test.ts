/** The operations on a schedule in every state, held against the table of its life. */
import { describe, expect, it, onTestFinished } from "vitest"
import { defineJob, type ScheduleState } from "../../src/index.ts"
import { canSchedule, SCHEDULE_LIFE, type ScheduleEvent } from "../../src/schedule/schedule-state.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute } from "../support/sql.ts"
import { createWatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }
const STATES = Object.keys(SCHEDULE_LIFE) as ScheduleState[]

describe.each(["memory", "postgres18"] as const)("a schedule, on %s", (where) => {
  it("allows in each state the operations of its life, and no others", async () => {
    const kit = await createWatchedKit(where === "memory" ? "memory" : SERVER_URLS[where])
    onTestFinished(() => kit.close())
    const app = await kit.app({ at: "2026-03-02T09:00Z" })
    const job = defineJob({ name: "work", run: async () => {} })
    const operations: Record<string, [ScheduleEvent, (name: string) => Promise<unknown>]> = {
      pause: ["pause", (name) => app.schedules.pause(name, { ...by, until: new Date("2026-04-01T00:00Z") })],
      resume: ["resume", (name) => app.schedules.resume(name, by)],
      put: ["edit", (name) => app.schedules.put({ name, job, every: "20m" })],
      patch: ["edit", (name) => app.schedules.patch(name, { every: "20m" }, { ...by, version: 1 })],
      skipNext: ["skip", (name) => app.schedules.skipNext(name, by)],
      cancel: ["cancel", (name) => app.schedules.cancel(name, by)],
    }
    for (const state of STATES) {
      for (const [call, [event, operate]] of Object.entries(operations)) {
        const name = `${state} ${call}`
        await app.schedules.create({ name, job, every: "10m" })
        if (state !== "active") {
          const at = state === "paused" ? "'2026-03-02T09:00Z'" : "null"
          const rest = `next_at = null, next_occurrence = null, paused_at = ${at}`
          await execute(
            app.database,
            `update {schedules} set state = '${state}', ${rest} where name = '${name}'`,
          )
        }
        const done = await operate(name).then(
          () => "done",
          ({ code }: { code: string }) => code,
        )
        // A resume of an active schedule answers "no", and changes nothing.
        const isKnown = canSchedule(state, event) || (state === "active" && event === "resume")
        expect(`${name}: ${done}`).toBe(`${name}: ${isKnown ? "done" : "SCHEDULE_STATE"}`)
        const life: Partial<Record<ScheduleEvent, string>> = SCHEDULE_LIFE[state]
        expect((await app.schedules.get(name))?.state).toBe(life[event] ?? state)
      }
    }
    await app.close()
  })
})
