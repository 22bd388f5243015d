/** The ledger of migrations: what was applied, and the lock under which it is written. */
import { boolean, int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/** Every applied migration, the oldest first. */
export const listApplied = statement({
  name: "migrations/list-applied",
  params: {},
  returns: { version: int, name: text, checksum: text },
  sql: `
  select version, name, checksum
  from {migrations}
  order by version
`,
})

/** Writes down that a migration was applied, in the transaction that applied it. */
export const recordApplied = statement({
  name: "migrations/record-applied",
  params: { version: int, name: text, checksum: text },
  returns: {},
  sql: `
  insert into {migrations} (version, name, checksum)
  values (@version, @name, @checksum)
`,
})

/**
 * Takes the lock under which one process at a time migrates, if it is free; held until the transaction ends.
 *
 * By trying and not by waiting: a process that waits inside a transaction holds a connection and a snapshot.
 */
export const tryMigrationLock = statement({
  name: "migrations/try-lock",
  params: { name: text },
  returns: { taken: boolean },
  sql: `select pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended(@name, 0)) as taken`,
})
