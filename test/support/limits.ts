/** Limits for tests: caps, the room that is left, and admissions as processes make them. */
import { createAdmissions } from "../../src/engine/queue/admissions.ts"
import type { ReadyLane } from "../../src/engine/queue/lane.ts"
import { createLineStarts } from "../../src/queue/line-start.ts"
import type { Database } from "../../src/store/database.ts"
import { declareLimit } from "../../src/store/limits/declare.ts"
import { nextInLine } from "../../src/store/limits/next-in-line.ts"
import { roomUnderLimits } from "../../src/store/limits/room.ts"
import { host, type Runner } from "./runs.ts"
import { rowsOf } from "./sql.ts"

/** One key, under a limit of this name. */
export const ONE = { k: "one" }
export const declare = (on: Runner, name: string, cap: number) => on.run(declareLimit, { name, job: "", cap })
/** The room under keys that share a limit of this name. */
export async function room(on: Runner, limits: Readonly<Record<string, string>>) {
  const asked = { keys: Object.keys(limits), limits: Object.values(limits) }
  return Object.fromEntries((await on.run(roomUnderLimits, asked)).map((row) => [row.key, row.room]))
}
/** All of these lines, from their start. */
export const wholeLines = (keys: readonly string[]) => createLineStarts().look(keys, 0).stretches

/** Admits everything that has room, as a process that finds an interrupted admission. */
export async function sweep(database: Database, crashPoint = host.crashPoint): Promise<readonly ReadyLane[]> {
  const lanes: ReadyLane[] = []
  const runtime = { ...host, database, crashPoint }
  const { tick } = createAdmissions({ runtime, onReady: (lane) => lanes.push(lane), onDoubt: () => {} })
  await tick(new AbortController().signal)
  return lanes
}

/** The same database, in which a look at a line takes time, as `onLook` says. */
export function withSlowLooks(database: Database, onLook: () => void): Database {
  return {
    ...database,
    transaction: (body, options) =>
      database.transaction(
        (tx) =>
          body({
            ...tx,
            run: (asked, params) => {
              if (asked.name === nextInLine.name) onLook()
              return tx.run(asked, params)
            },
          }),
        options,
      ),
  }
}

/** The runs that are ready or running. */
export const admitted = async (on: Runner) =>
  (await rowsOf(on, "select id from {runs} where stage = 'queued' order by id")).map(({ id }) => id)
