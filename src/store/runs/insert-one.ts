import { bigint, boolean, instant, int, json, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes one new run that has nothing but an input and waits for whoever claims it: `runs/insert-plain` for one, which
 * is what it mostly is. Of what that costs the server nearly all is setting the statement up, so this one is as short as
 * it can be: three quarters of the price. Nothing is returned if it came too late.
 *
 * Guarantee: its id must be new: one that is already there is an error. Nothing is written after `notAfter`, so that a
 * copy of this call that was lost on its way cannot come in later.
 * Locks: none beyond the new row.
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
  -- Asked once, and not wherever it is mentioned.
  from (select {now} as at offset 0) as moment
  where @notAfter is null or at <= @notAfter
  returning rank, (date_part('epoch', enqueued_at) * 1000000)::bigint / 1000 as now_ms
`,
})
