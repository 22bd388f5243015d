import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { PAGE_COLUMNS, PAGE_ORDER, PAGE_PARAMS, PAGE_ROW, WITHIN_PAGE } from "./page.ts"

/**
 * A page of the attempts of one tenant, of all jobs or of one.
 *
 * Locks: none.
 * Index: attempts_by_tenant (tenant, finished_at) where tenant <> '', backwards, in every partition between the bounds.
 */
export const listByTenant = statement({
  name: "attempts/list-by-tenant",
  params: { ...PAGE_PARAMS, tenant: text, job: nullable(text) },
  returns: PAGE_ROW,
  plan: "index",
  sql: `
  select ${PAGE_COLUMNS}
  from {attempts}
  where tenant = @tenant and tenant <> ''
    and (@job is null or job = @job)
    and ${WITHIN_PAGE}
  order by ${PAGE_ORDER}
  limit @limit
`,
})
