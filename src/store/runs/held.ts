import { bigint, boolean, int, json, list, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Those of the given runs that a lease holds, with what their settle needs.
 *
 * Index: the primary key of runs.
 */
export const heldRuns = statement({
  name: "runs/held",
  params: { lease: uuid, ids: list(uuid) },
  returns: {
    id: uuid,
    claim: bigint,
    job: text,
    pool: text,
    solo: boolean,
    priority: int,
    due_ms: whole,
    extra: json,
  },
  plan: "index",
  sql: `
  select id, claim, job, pool, solo, priority, (date_part('epoch', due_at) * 1000000)::bigint / 1000 as due_ms,
    json_build_object(
      'attempt', attempt, 'fence', claims, 'generation', generation, 'tenant', tenant, 'limited', limited,
      'timeoutMs', timeout_ms, 'retry', retry, 'schedule', schedule, 'occurrence', occurrence
    ) as extra
  from {runs}
  where id = any (@ids) and lease = @lease
`,
})
