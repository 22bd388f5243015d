/** Expediting a run while another process changes it. */
import { expect, it } from "vitest"
import { expediteRun } from "../../src/store/runs/expedite.ts"
import { lockRun } from "../../src/store/runs/lock.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import { insert, withStoppedClock } from "../support/runs.ts"
import { hold, rowsOf, untilBlocked } from "../support/sql.ts"

describeEngines(
  "a run that is expedited while others",
  (engine) => {
    const limits = { k: "one" }
    const STATE = `select {schema}.state(runs), admitted from {runs} join {run_limits} on run = id`

    it.each([
      ["admit it is ready, in its place", "'queued'", "admitted = true, wave = 0", "ready", true],
      ["take its place away stands in line", "'waiting'", "admitted = null", "parked", false],
    ])("%s", async (_, stage, place, state, admitted) => {
      const { database } = await withStoppedClock(engine)
      const [id = ""] = await insert(database, { limits, delayMs: 1_000 })
      if (state === "parked")
        await (await hold(database, "update {run_limits} set admitted = true, wave = 0")).release()
      const others = await hold(
        database,
        `update {runs} set stage = ${stage}; update {run_limits} set ${place}`,
      )
      const expedited = database.transaction(async (tx) => {
        await tx.run(lockRun, { id })
        return tx.run(expediteRun, { id, priority: null })
      })
      await untilBlocked(database)
      await others.release()
      expect(await expedited).toMatchObject([{ state }])
      expect(await rowsOf(database, STATE)).toEqual([{ state, admitted }])
    })
  },
  SERVERS,
)
