/** Runs under idempotency keys, for tests, enqueued as processes do. */
import { createEnqueuer, type Enqueuer } from "../../src/engine/enqueue/enqueuer.ts"
import type { NewRun } from "../../src/engine/enqueue/new-run.ts"
import { defineJob } from "../../src/job/define.ts"
import type { Database } from "../../src/store/database.ts"
import { host, type Runner } from "./runs.ts"

export const greet = defineJob({ name: "greet", run: () => {} })
export const other = defineJob({ name: "other", run: () => {} })

/** A run under a key, which it holds while it lives, or for some time. */
export function runUnder(key: string | null, said: Partial<NewRun> = {}): NewRun {
  return {
    ...{
      id: host.newId(),
      input: "{}",
      pool: null,
      priority: null,
      tenant: null,
      delayMs: null,
      runAt: null,
    },
    ...{
      startWithinMs: null,
      keyFor: "live",
      tags: null,
      timeoutMs: null,
      retry: null,
      concurrencyKey: null,
    },
    ...said,
    key,
  }
}

export function enqueuerOf(database: Database): Enqueuer {
  return createEnqueuer({ ...host, database }, { add: () => {}, resolve: async () => {} })
}

/** Enqueues one run and returns the run of its key, and whether it is new. */
export async function enqueue(on: Runner, run: NewRun, job = greet) {
  const { answers } = await enqueuerOf({} as Database).writeIn(on, job, [run])
  return answers[0]
}
