import { bigint, instant, int, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * One live run, as it is now.
 *
 * Index: the primary key of runs.
 */
export const findRun = statement({
  name: "runs/find",
  params: { id: uuid },
  returns: {
    id: uuid,
    job: text,
    pool: text,
    tenant: text,
    priority: int,
    rank: bigint,
    state: text,
    parked_for: nullable(text),
    attempt: int,
    generation: int,
    enqueued_at: instant,
    due_at: instant,
    start_by: nullable(instant),
    key: nullable(text),
    tags: nullable(json),
    input: json,
    progress: nullable(json),
    lease: nullable(uuid),
  },
  plan: "index",
  sql: `
  select id, job, pool, tenant, priority, rank, {schema}.state(run) as state, parked_for, attempt, generation,
    enqueued_at, due_at, start_by, key, array_to_json(tags) as tags, input, progress, lease
  from {runs} as run
  where id = @id
`,
})
