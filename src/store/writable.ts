/** Checks whether the database accepts writes, before a call that would notice only slowly. */
import type { Database } from "./database.ts"

/** Fails as a write would, so that connections to the wrong server are dropped. */
const REFUSE_READ_ONLY = `
  do $$
  begin
    if pg_catalog.pg_is_in_recovery() then
      raise exception 'the server is a standby' using errcode = '25006';
    elsif pg_catalog.current_setting('transaction_read_only')::boolean then
      raise exception 'default_transaction_read_only is on' using errcode = '25006';
    end if;
  end
  $$;
`

/** Throws DATABASE_READ_ONLY if the database would refuse a write. */
export async function assertWritable(database: Database): Promise<void> {
  // PGlite has no standby.
  if (!database.abilities.processes) return
  await database.transaction((tx) => tx.script(REFUSE_READ_ONLY))
}
