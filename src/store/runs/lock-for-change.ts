import { int, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Locks a live run until the end of the transaction, and reads what an operator may change of it. No row means that the
 * run is gone or never was.
 *
 * Guarantee: the row is as the previous holder of the lock left it. The next statement of this transaction sees
 * everything that this holder wrote, in other tables as well.
 * Locks: the run's row.
 * Index: the primary key of runs.
 */
export const lockRunForChange = statement({
  name: "runs/lock-for-change",
  params: { id: uuid },
  returns: {
    state: text,
    parked_for: nullable(text),
    job: text,
    pool: text,
    priority: int,
    tags: nullable(json),
    input: json,
  },
  plan: "index",
  sql: `
  select {schema}.state(run) as state, parked_for, job, pool, priority, array_to_json(tags) as tags, input
  from {runs} as run
  where id = @id
  for no key update
`,
})
