import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { BELOW, NEWEST_FIRST, PLACE_COLUMNS, PLACE_PARAMS, PLACE_ROW } from "./places.ts"

/**
 * The newest dead letters of a job below a place; also only those of one tenant.
 *
 * Locks: none.
 * Index: dead_letters_job (job, died_at), backwards. The letters of other tenants are read and left out.
 */
export const findByJob = statement({
  name: "dead-letters/find-by-job",
  params: { ...PLACE_PARAMS, job: text, tenant: nullable(text) },
  returns: PLACE_ROW,
  plan: "index",
  sql: `
  select ${PLACE_COLUMNS}
  from {dead_letters}
  where job = @job and (@tenant is null or tenant = @tenant)
    and ${BELOW}
  order by ${NEWEST_FIRST}
  limit @limit
`,
})
