/** History without its work: attempts and days, written as if they had happened. */
import { createSystemHost } from "../../src/runtime/system.ts"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import type { Database } from "../../src/store/database.ts"
import { takeClock } from "../../src/testing/clock.ts"
import type { Engine } from "./engines.ts"
import { execute } from "./sql.ts"

const host = createSystemHost()

/** A UUIDv7 that was made at this time. */
export function idOf(at: string): string {
  const time = Date.parse(at).toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${host.newId().slice(15)}`
}

export interface PastAttempt {
  readonly run: string
  readonly finished: string
  readonly claim?: number | null
  readonly generation?: number
  readonly attempt?: number
  readonly outcome?: string
  readonly state?: string | null
  readonly history?: string
  readonly enqueued?: string
}

/** Writes attempts into history as if they had happened. */
export async function record(database: Database, ...attempts: PastAttempt[]): Promise<void> {
  const rows = attempts.map(({ run, finished, claim = 7, generation = 1, attempt = 1, ...rest }) => {
    const { outcome = "succeeded", state = "succeeded", history = "standard", enqueued = finished } = rest
    const [ended, input] = state === null ? ["null", "null"] : [`'${state}'`, "'0'"]
    return `('${run}', ${claim}, ${generation}, ${attempt}, 'greet', 'default', '${enqueued}', '${finished}',
      '${finished}', '${outcome}', ${ended}, ${input}, '${history}')`
  })
  await execute(
    database,
    `insert into {attempts} (run, claim, generation, attempt, job, pool, enqueued_at, due_at, finished_at, outcome,
       run_state, input, history)
     values ${rows.join(", ")}`,
  )
}

/** A migrated schema whose clock stands at `at`, with the partitions of that day, the week, and the days before. */
export async function withHistory(engine: Engine, at: string, ...before: string[]): Promise<Database> {
  const database = await engine.fresh()
  const clock = await takeClock(database, at)
  for (const day of [...before, at]) {
    await clock.set(day)
    await makePartitions(database, 0)
  }
  return database
}
