import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes a run made by `runNow` into the ledger of its schedule, at the time of the call. The run stands for no
 * occurrence, so its generation is 0, or one less for each other such run of the same millisecond.
 *
 * Guarantee: run in the transaction that has locked the schedule (schedules/lock). So no two rows get one generation.
 * Locks: none beyond the new row.
 * Index: the primary key of fires.
 */
export const recordByHand = statement({
  name: "fires/by-hand",
  params: { schedule: uuid, run: uuid },
  returns: {},
  plan: "index",
  sql: `
  insert into {fires} (schedule, occurrence, generation, outcome, due_at, decided_at, run, last)
  select @schedule, at,
    least(1, (select min(generation) from {fires} as known where known.schedule = @schedule and occurrence = at)) - 1,
    'fired', at, at, @run, at
  from (select date_trunc('milliseconds', {now}) as at offset 0) as clock
`,
})
