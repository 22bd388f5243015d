/** One moment begins a schedule: it counts from there, and reports that moment as its creation. */
import { expect, it } from "vitest"
import { createSchedule } from "../../src/operations/schedules/create.ts"
import { describeEngines } from "../support/engines.ts"
import { rowsOf } from "../support/sql.ts"

describeEngines("a schedule", (engine) => {
  it("is created at the moment from which it counts, so that no occurrence lies before it", async () => {
    const runtime = await engine.migrated()
    const definition = {
      tenant: "",
      name: "every second",
      job: "work",
      spec: JSON.stringify({ every: "1s" }),
      input: "null",
      settings: "{}",
    }
    const by = { actor: "ada", reason: "a test" }
    await createSchedule(runtime, { definition, by })
    const [row] = await rowsOf(
      runtime.database,
      "select cursor = created_at as counts, next_occurrence > created_at as comes, changed_at = " +
        "created_at as new from {schedules}",
    )
    expect(row).toEqual({ counts: true, comes: true, new: true })
  })
})
