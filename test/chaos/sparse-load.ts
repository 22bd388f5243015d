/**
 * A load so sparse that a process without wake-ups has to look for its runs.
 *
 * Under the standard load some process is always about to claim, because a run has ended or a schedule has fired: a
 * process that never looked by itself would not be noticed.
 */
import { join } from "node:path"
import { DEFAULTS } from "../../src/defaults.ts"
import { openRecorder } from "../support/history/record.mjs"
import type { Stage } from "./fault.ts"
import { SCHEDULES } from "./schedules.ts"
import type { Chance } from "./seeded-random.ts"
import type { World } from "./world.ts"

/** A process without wake-ups looks at least this often; and a little for a busy machine. */
const WITHIN_MS = DEFAULTS.idlePollMs + 2_000
const SPARSE_MS = 2 * WITHIN_MS
const PATIENCE_MS = 60_000
const STANDARD_MS = 6_000
const RATE = 35

export const SPARSE: Stage = {
  workers: 2,
  schedules: SCHEDULES.filter(({ name }) => name === "minutely"),
  seconds: (asked) => Math.max(asked, (SPARSE_MS + STANDARD_MS) / 1_000),
}

/** One run, and a while nothing, again and again, each of which has to start in time; then the standard load. */
export async function enqueueNowAndThen(world: World, chance: Chance): Promise<number> {
  const [producer] = world.producers()
  for (const each of world.producers()) await each.call("quiet")
  const { record, close } = openRecorder(join(world.folder, "history"), "sparse")
  // Apart from the load that follows: of fewer than a hundred runs all have to be in time.
  record("quiet_from", { withinMs: WITHIN_MS, nowUs: await now(world) })
  let many = 0
  for (const untilMs = performance.now() + SPARSE_MS; performance.now() < untilMs; many += 1) {
    await producer?.call("enqueue", {})
    await world.rest(chance.between(400, 1_200))
  }
  // What starts far too late has to be seen to start.
  await world.until(async () => !(await isAnyReady(world)), PATIENCE_MS)
  record("quiet_to", { nowUs: await now(world) })
  close()
  for (const schedule of SCHEDULES) await producer?.call("putSchedule", schedule)
  await world.load(RATE)
  return many
}

async function isAnyReady({ talk, schema }: World): Promise<boolean> {
  return (
    (await talk.ask(`select 1 from "${schema}".runs where stage = 'queued' and lease is null limit 1`))
      .length > 0
  )
}

async function now({ talk, schema }: World): Promise<number> {
  const [row] = await talk.ask(`select (extract(epoch from "${schema}".now()) * 1000000)::bigint as us`)
  return Number(row?.["us"])
}
