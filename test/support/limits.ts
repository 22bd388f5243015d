/** Limits for tests: caps, what is left of them, and admitting as processes do. */
import { createAdmissions } from "../../src/engine/admissions.ts"
import type { ReadyLane } from "../../src/engine/lane.ts"
import type { Database } from "../../src/store/database.ts"
import { declareLimit } from "../../src/store/limits/declare.ts"
import { roomUnderLimits } from "../../src/store/limits/room.ts"
import { host, type Runner } from "./runs.ts"
import { rowsOf } from "./sql.ts"

/** One key, under a limit that is called so. */
export const ONE = { k: "one" }
export const declare = (on: Runner, name: string, cap: number) => on.run(declareLimit, { name, cap })
export const room = async (on: Runner, ...keys: string[]) =>
  Object.fromEntries((await on.run(roomUnderLimits, { keys })).map((row) => [row.key, row.room]))

/** Admits whatever has room, as a process does that finds what others have left. */
export async function sweep(database: Database, crashPoint = host.crashPoint): Promise<readonly ReadyLane[]> {
  const lanes: ReadyLane[] = []
  const runtime = { ...host, database, crashPoint }
  const { tick } = createAdmissions({ runtime, onReady: (lane) => lanes.push(lane) })
  await tick(new AbortController().signal)
  return lanes
}

/** The runs that are ready or running. */
export const admitted = async (on: Runner) =>
  (await rowsOf(on, "select id from {runs} where state in ('ready', 'running') order by id")).map(
    ({ id }) => id,
  )
