import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The table of the ledger of migrations, if the schema has one.
 *
 * Ask this first where a query on a missing table would abort the transaction.
 * Locks: none.
 */
export const findLedger = statement({
  name: "transfer/find-ledger",
  params: { schema: text },
  returns: { name: text },
  sql: `
  select relname::text as name
  from pg_catalog.pg_class as relation
  join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
  where nspname = @schema and relname = 'migrations'
`,
})
