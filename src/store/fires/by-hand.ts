import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes a run that somebody asked for into the ledger of its schedule, at the moment of the request. It stands for no
 * occurrence, so its generation is 0, or one less for each other one of the same millisecond.
 *
 * Guarantee: run in the transaction that has locked the schedule (schedules/lock), so no two are given the same place.
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
