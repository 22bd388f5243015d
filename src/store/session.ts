/**
 * The settings of a session that our statements depend on, and how they are made to hold.
 *
 * Any of them may be something else by `alter role`, `alter database`, postgresql.conf or the URL. So they are said once
 * for a connection that is ours alone, and in each transaction elsewhere: behind a pooler, and on connections on which
 * handlers run statements of their own. Those find everything as they left it.
 *
 * All other settings that a user may change were looked through (`select name from pg_settings where context = 'user'`,
 * PostgreSQL 18) and are left alone:
 * - They are for whoever runs the database to choose: synchronous_commit, default_tablespace, temp_tablespaces, work_mem
 *   and other amounts of memory, costs of pages and rows, vacuum_*, log_*, track_*, tcp_*, wal_*, commit_*, *_io_*.
 * - They forbid, and are meant to: default_transaction_read_only, transaction_read_only, restrict_nonsystem_relation_kind.
 * - They change how something is written that no statement of ours reads or writes: bytea_output, intervalstyle, lc_*,
 *   xmlbinary, xmloption, default_text_search_config, backslash_quote, escape_string_warning, debug_*.
 * - They act on what we do not use: row_security (no policies), transform_null_equals (no `= null`), default_transaction_deferrable
 *   (nothing is serializable), cursor_tuple_fraction, gin_*, check_function_bodies, session_replication_role (no triggers).
 * - plpgsql.variable_conflict is not ours to set; functions of ours say theirs themselves.
 * - client_encoding, application_name: the driver says them when it connects, which wins over a role's.
 */

export type Settings = Readonly<Record<string, string>>

/** What changes the result of a statement of ours, or how long it takes. */
export const OURS = {
  // Compiling takes 0.1 s and more; our statements take milliseconds. Their costs say nothing: a scan that was switched off
  // and has no alternative costs 1e10, which is far above every limit of JIT.
  jit: "off",
  // For the same costs workers would be started, each for longer than the statement takes.
  max_parallel_workers_per_gather: "0",
  // Names of functions and operators are looked up where nobody else can put any.
  search_path: "pg_catalog, pg_temp",
  // `NULL` in the text of an array is no text.
  array_nulls: "on",
  // Every digit of a number, wherever one is written as text.
  extra_float_digits: "1",
  // A backslash in a pattern stays one.
  standard_conforming_strings: "on",
  // Types and bounds of partitions are read as the catalog's functions write them.
  quote_all_identifiers: "off",
  // Tables of ours are found by ctid and leave room on their pages: they are heaps.
  default_table_access_method: "heap",
  // One partition of history of hundreds is looked into.
  enable_partition_pruning: "on",
  // Left to chance, or to the order in which tables are named, a plan is not the one that was measured.
  geqo: "off",
  from_collapse_limit: "8",
  join_collapse_limit: "8",
} as const satisfies Settings

/** How long something may take is said for each call, and the server looks whether we are still there. */
export const LIMITS = {
  statement_timeout: "0",
  lock_timeout: "0",
  idle_in_transaction_session_timeout: "0",
} as const satisfies Settings

/** What holds for statements of handlers as well, on every connection that is ours alone. */
const ALWAYS = {
  // An error that we expect, as when a partition is missing, does not end the session.
  exit_on_error: "off",
  // Read committed, whatever the default of the database or the user is: every statement is written for it.
  default_transaction_isolation: "read committed",
  // Connections that nobody needs for a while, and those that listen, stay.
  idle_session_timeout: "0",
} as const satisfies Settings

/** The limits that a version knows. */
export function limitsOf(versionNumber: number): Settings {
  return versionNumber < 170_000 ? LIMITS : { ...LIMITS, transaction_timeout: "0" }
}

/** What a connection of ours is told when it is opened; `plan` is that of its statements, if they are all ours. */
export function openingSettings(versionNumber: number, plan: Settings | undefined): string {
  const ours = plan && { ...limitsOf(versionNumber), ...OURS, ...plan }
  return setting({ ...ALWAYS, ...ours }, false)
}

/** Until the end of the transaction. In one statement: each costs the server as much as a short one of ours. */
export function settingLocally(settings: Settings): string {
  return setting(settings, true)
}

function setting(settings: Settings, isLocal: boolean): string {
  return `select ${Object.entries(settings)
    .map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', ${isLocal})`)
    .join(", ")}`
}

/** The same, and keeps in the session what they were before, for `givingBack`. A list is worked off in its order. */
export function borrowing(settings: Settings): string {
  const steps = Object.entries(settings).flatMap(([name, value]) => [
    `pg_catalog.set_config('${keptAs(name)}', pg_catalog.current_setting('${name}'), true)`,
    `pg_catalog.set_config('${name}', '${value}', true)`,
  ])
  return `select ${steps.join(", ")}`
}

/** Makes them what they were before `borrowing`. */
export function givingBack(settings: Settings): string {
  return `select ${Object.keys(settings)
    .map((name) => `pg_catalog.set_config('${name}', pg_catalog.current_setting('${keptAs(name)}'), true)`)
    .join(", ")}`
}

function keptAs(name: string): string {
  return `carillon.kept_${name}`
}
