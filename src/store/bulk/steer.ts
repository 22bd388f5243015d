import { text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { BULK_COLUMNS, BULK_ROW } from "./columns.ts"

/**
 * Gives a bulk operation that has not ended another state, and returns it as it is then, with the state before.
 *
 * Guarantee: after the commit no process changes a run for an operation that is paused or aborted.
 * Locks: the row of the operation; waits for a batch that is under way.
 * Index: the primary key of bulk.
 */
export const steerBulk = statement({
  name: "bulk/steer",
  params: { id: uuid, state: text },
  returns: { ...BULK_ROW, state_before: text },
  plan: "index",
  sql: `
  with held as materialized (
    select id as held, state as state_before
    from {bulk}
    where id = @id
    for update
  )
  update {bulk}
  set state = @state,
    next_at = {now},
    finished_at = case when @state = 'aborted' then {now} end
  from held
  where id = held.held and state_before in ('running', 'paused')
  returning ${BULK_COLUMNS}, state_before
`,
})
