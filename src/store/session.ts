/**
 * The settings of a session that our statements depend on, and how Carillon enforces them.
 *
 * `alter role`, `alter database`, postgresql.conf or the URL may change any of them. So Carillon sets them once on a
 * connection of its own, and in each transaction elsewhere: behind a pooler, and on connections that run a handler's
 * statements too. A handler finds its settings unchanged.
 *
 * All other settings that a user may change (`select name from pg_settings where context = 'user'`, PostgreSQL 18) are
 * left alone:
 * - The operator chooses: synchronous_commit, default_tablespace, temp_tablespaces, work_mem and other amounts of
 *   memory, costs of pages and rows, vacuum_*, log_*, track_*, tcp_*, wal_*, commit_*, *_io_*.
 * - They forbid writes on purpose: default_transaction_read_only, transaction_read_only,
 *   restrict_nonsystem_relation_kind.
 * - They change the text of values that our statements neither read nor write: bytea_output, intervalstyle, lc_*,
 *   xmlbinary, xmloption, default_text_search_config, backslash_quote, escape_string_warning, debug_*.
 * - They concern features that we do not use: row_security (no policies), transform_null_equals (no `= null`),
 *   default_transaction_deferrable (nothing is serializable), cursor_tuple_fraction, gin_*, check_function_bodies,
 *   session_replication_role (no triggers).
 * - plpgsql.variable_conflict: our functions set it themselves if they need it.
 * - client_encoding, application_name: the driver sets them when it connects, which overrides a role's.
 */

export type Settings = Readonly<Record<string, string>>

/** Settings that change the result or the speed of our statements. */
export const OURS = {
  // Compiling takes 0.1 s and more; our statements take milliseconds. Their estimated costs mislead: a scan that is
  // switched off and has no alternative costs 1e10, far above every threshold of JIT.
  jit: "off",
  // The same costs would start parallel workers, and starting one takes longer than the statement.
  max_parallel_workers_per_gather: "0",
  // Functions and operators are looked up only where no other role can create any.
  search_path: "pg_catalog, pg_temp",
  // `NULL` inside the text of an array is a null and not a text.
  array_nulls: "on",
  // Numbers are written with all their digits.
  extra_float_digits: "1",
  // A backslash in a pattern is a backslash.
  standard_conforming_strings: "on",
  // Functions of the catalog write types and bounds of partitions without quotes.
  quote_all_identifiers: "off",
  // Statements find rows by ctid and leave room on pages, so the tables have to be heaps.
  default_table_access_method: "heap",
  // Reads one of hundreds of partitions of history.
  enable_partition_pruning: "on",
  // Plans must not depend on chance or on the order of tables in a statement.
  geqo: "off",
  from_collapse_limit: "8",
  join_collapse_limit: "8",
} as const satisfies Settings

/** Each call sets its own limit, and the server checks whether the client is still there. */
export const LIMITS = {
  statement_timeout: "0",
  lock_timeout: "0",
  idle_in_transaction_session_timeout: "0",
} as const satisfies Settings

/** Settings that also apply to handlers' statements, on every connection of ours. */
const ALWAYS = {
  // An expected error, such as a missing partition, does not end the session.
  exit_on_error: "off",
  // Every statement is written for read committed, whatever the default of the database or the role.
  default_transaction_isolation: "read committed",
  // Idle connections and listeners stay open.
  idle_session_timeout: "0",
} as const satisfies Settings

/** The limits that a version of PostgreSQL knows. */
export function limitsOf(versionNumber: number): Settings {
  return versionNumber < 170_000 ? LIMITS : { ...LIMITS, transaction_timeout: "0" }
}

/**
 * Sent before the first `select` on a session of unknown state, because that `select` runs under the settings of the
 * role: JIT would compile it, and a short `statement_timeout` would then end it. `set` needs no plan. Both settings end
 * with the transaction, which is implicit if the texts are sent together.
 */
export const UNHURRIED = "set local jit = off; set local statement_timeout = 0; "

/** What a new connection of ours is told. `plan` is the plan of its statements, if all of them are ours. */
export function openingSettings(versionNumber: number, plan: Settings | undefined): string {
  const ours = plan && { ...limitsOf(versionNumber), ...OURS, ...plan }
  return UNHURRIED + setting({ ...ALWAYS, ...ours }, false)
}

/** Until the end of the transaction. In one statement, because each costs the server as much as a short one of ours. */
export function settingLocally(settings: Settings): string {
  return setting(settings, true)
}

function setting(settings: Settings, isLocal: boolean): string {
  return `select ${Object.entries(settings)
    .map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', ${isLocal})`)
    .join(", ")}`
}

/** The same, and stores the previous values in the session for `givingBack`. PostgreSQL evaluates the list in order. */
export function borrowing(settings: Settings): string {
  const steps = Object.entries(settings).flatMap(([name, value]) => [
    `pg_catalog.set_config('${keptAs(name)}', pg_catalog.current_setting('${name}'), true)`,
    `pg_catalog.set_config('${name}', '${value}', true)`,
  ])
  return `select ${steps.join(", ")}`
}

/** Restores the values from before `borrowing`. */
export function givingBack(settings: Settings): string {
  return `select ${Object.keys(settings)
    .map((name) => `pg_catalog.set_config('${name}', pg_catalog.current_setting('${keptAs(name)}'), true)`)
    .join(", ")}`
}

function keptAs(name: string): string {
  return `carillon.kept_${name}`
}

/**
 * How to recognise settings of a caller's session that would change what our statements do there. An enqueue depends on
 * the first three. Changes of schedules also read and write instants.
 */
const ODD = {
  // By default PostgreSQL looks into its catalog first. Only a path that names it elsewhere hides its functions.
  search_path: `operator(pg_catalog.~) ', *"?pg_catalog'`,
  array_nulls: "operator(pg_catalog.<>) 'on'",
  standard_conforming_strings: "operator(pg_catalog.<>) 'on'",
  datestyle: "operator(pg_catalog.!~) '^ISO'",
  timezone: "operator(pg_catalog.<>) 'UTC'",
} as const

export type CallersSettings = Readonly<Partial<Record<keyof typeof ODD, string>>>

const { search_path, array_nulls, standard_conforming_strings } = OURS
export const FOR_ENQUEUES: CallersSettings = { search_path, array_nulls, standard_conforming_strings }
export const FOR_CHANGES: CallersSettings = { ...FOR_ENQUEUES, datestyle: "ISO, YMD", timezone: "UTC" }

/** `borrowing`, where one of the settings is odd. Returns a row if it was. */
export function borrowingIfOdd(settings: CallersSettings): string {
  const names = Object.keys(settings) as (keyof typeof ODD)[]
  const isOdd = names.map((name) => `pg_catalog.current_setting('${name}') ${ODD[name]}`)
  return `${borrowing(settings)} where ${isOdd.join(" or ")}`
}
