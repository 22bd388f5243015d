import { instant, int, json, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Live workers in the order of their leases, after a given lease, each with up to `most` of the runs that it holds.
 * `lease` asks for one worker.
 *
 * Runs: claims say which runs a lease took, and the run itself whether it is still held under that claim.
 * Locks: none.
 * Index: the primary keys of workers, claims and runs.
 */
export const listWorkers = statement({
  name: "workers/list",
  params: { lease: nullable(uuid), after: uuid, limit: int, most: int },
  returns: {
    lease: uuid,
    hostname: text,
    pid: int,
    version: nullable(text),
    pools: json,
    slots: json,
    used: json,
    jobs: json,
    started_at: instant,
    expires_at: instant,
    delay_ms: nullable(int),
    memory_bytes: nullable(whole),
    measured_at: nullable(instant),
    runs: json,
  },
  plan: "index",
  sql: `
  select lease, hostname, pid, version, to_json(pools) as pools, to_json(slots) as slots, to_json(used) as used,
    to_json(jobs) as jobs, started_at, expires_at, delay_ms, memory_bytes, measured_at,
    to_json(array(
      select run.id
      from {claims} as claim
      cross join lateral unnest(claim.runs) as taken (id)
      cross join lateral (
        select id from {runs} as held where held.id = taken.id and held.lease = claim.lease and held.claim = claim.claim
      ) as run
      where claim.lease = worker.lease
      limit @most
    )) as runs
  from {workers} as worker
  where not dead and expires_at > {now} and lease > @after and (@lease is null or lease = @lease)
  order by lease
  limit @limit
`,
})
