import { json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { BULK_COLUMNS, BULK_ROW } from "./columns.ts"

/**
 * Stores a bulk operation that runs from now on.
 *
 * Locks: only the new row.
 */
export const insertBulk = statement({
  name: "bulk/insert",
  params: {
    id: uuid,
    action: text,
    filter: text,
    options: json,
    pace: nullable(text),
    actor: text,
    reason: text,
  },
  returns: BULK_ROW,
  sql: `
  insert into {bulk} (id, action, filter, options, pace, actor, reason, state, started_at, next_at)
  select @id, @action, @filter, @options, @pace, @actor, @reason, 'running', moment, moment
  from (select {now} as moment) as clock
  returning ${BULK_COLUMNS}
`,
})
