import { bigint, boolean, instant, int, json, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes one new run that has nothing but an input, for any worker to claim. Returns no row if the call came too late.
 *
 * It is `runs/insert-plain` for one run, as short as possible: nearly all of the server's time goes into setting a
 * statement up, and this one takes three quarters of it.
 * Guarantee: the id must be new; an existing id is an error. Nothing is written after `notAfter`, so a copy of this
 * call that got lost on its way cannot arrive later.
 * Locks: none besides the new row.
 */
export const insertOneRun = statement({
  name: "runs/insert-one",
  params: {
    id: uuid,
    job: text,
    pool: text,
    priority: int,
    history: text,
    buryWhenLost: boolean,
    notAfter: nullable(instant),
    input: json,
  },
  returns: { rank: bigint, now_ms: whole },
  sql: `
  insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, history, bury_when_lost)
  select @id, @job, @pool, @priority, (date_part('epoch', at) * 1000000)::bigint, 'queued', at, at, @input,
    @history, @buryWhenLost
  -- "offset 0" reads the clock once, and not at each mention.
  from (select {now} as at offset 0) as moment
  where @notAfter is null or at <= @notAfter
  returning rank, (date_part('epoch', enqueued_at) * 1000000)::bigint / 1000 as now_ms
`,
})
