import { expect, it } from "vitest"
import { vacuumRuns } from "../../src/store/runs/vacuum.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import { addRuns } from "../support/parking.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

const SIZE = "select pg_relation_size('{runs}')::int as size"

describeEngines(
  "a vacuum of runs",
  (engine) => {
    it("gives the room of deleted runs to new ones", async () => {
      const { database } = await engine.migrated()
      const sizes: unknown[] = []
      for (let round = 0; round < 4; round += 1) {
        await addRuns(database, 500)
        await execute(database, "delete from {runs}")
        await database.run(vacuumRuns, {})
        sizes.push(...(await rowsOf(database, SIZE)))
      }
      expect(sizes).toEqual(sizes.map(() => sizes[0]))
    })

    it("gives up when another session locks the table", async () => {
      const { database } = await engine.migrated()
      const other = await hold(database, "lock table {runs} in share update exclusive mode")
      expect(await database.run(vacuumRuns, {})).toEqual([])
      await other.release()
    })

    it("blocks no writer that holds rows", async () => {
      const { database } = await engine.migrated()
      await addRuns(database, 10)
      const other = await hold(database, "update {runs} set priority = 1")
      await database.run(vacuumRuns, {})
      await other.release()
      expect(await rowsOf(database, "select count(*)::int as runs from {runs}")).toEqual([{ runs: 10 }])
    })
  },
  SERVERS,
)
