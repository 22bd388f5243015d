/** A role whose sessions begin with every setting that can change a result at its oddest value. */
import pg from "pg"
import { createSystemHost } from "../../src/runtime/system.ts"

/** Settings of PostgreSQL 14 and later. */
const SETTINGS: Readonly<Record<string, string>> = {
  // How values are written and read.
  array_nulls: "off",
  extra_float_digits: "-15",
  datestyle: "German, DMY",
  intervalstyle: "sql_standard",
  timezone: "Asia/Kathmandu",
  bytea_output: "escape",
  client_encoding: "LATIN1",
  quote_all_identifiers: "on",
  standard_conforming_strings: "off",
  escape_string_warning: "off",
  backslash_quote: "off",
  transform_null_equals: "on",
  xmloption: "document",
  default_text_search_config: "pg_catalog.simple",
  client_min_messages: "error",
  // Where names are looked up.
  search_path: "carillon_odd, pg_catalog",
  row_security: "off",
  check_function_bodies: "off",
  default_table_access_method: "carillon_odd",
  // How a transaction ends.
  exit_on_error: "on",
  default_transaction_isolation: "serializable",
  default_transaction_deferrable: "on",
  client_connection_check_interval: "0",
  // How statements are planned.
  jit: "on",
  jit_above_cost: "0",
  plan_cache_mode: "force_custom_plan",
  enable_indexscan: "off",
  enable_indexonlyscan: "off",
  enable_tidscan: "off",
  enable_hashjoin: "off",
  enable_nestloop: "off",
  enable_hashagg: "off",
  enable_memoize: "off",
  enable_material: "off",
  enable_partition_pruning: "off",
  enable_partitionwise_join: "on",
  enable_partitionwise_aggregate: "on",
  constraint_exclusion: "on",
  geqo_threshold: "2",
  from_collapse_limit: "1",
  join_collapse_limit: "1",
  parallel_setup_cost: "0",
  parallel_tuple_cost: "0",
  min_parallel_table_scan_size: "0",
  min_parallel_index_scan_size: "0",
  cursor_tuple_fraction: "1",
  default_statistics_target: "1",
  work_mem: "64kB",
  hash_mem_multiplier: "1",
}

/** Timeouts. */
export interface Limits {
  readonly statement_timeout: string
  readonly lock_timeout: string
  readonly idle_in_transaction_session_timeout: string
  readonly idle_session_timeout: string
  /** Settings of PostgreSQL 17 and later. */
  readonly transaction_timeout: string
}

/** For statements of handlers, whose limits are those of the role. */
export const PATIENT: Limits = {
  statement_timeout: "10s",
  lock_timeout: "10s",
  idle_in_transaction_session_timeout: "10s",
  idle_session_timeout: "10s",
  transaction_timeout: "10s",
}

const host = createSystemHost()

/** Creates the role on the server of `url`, and the functions in its search path. Returns its URL. */
export async function makeHostile(
  url: string,
  limits: Limits,
  other: Readonly<Record<string, string>> = {},
): Promise<string> {
  const role = `odd_${host.newId().replaceAll("-", "")}`
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query("select current_setting('server_version_num')::int as version")
    const version = rows[0]["version"] as number
    const { transaction_timeout, ...older } = limits
    const all: Record<string, string> = { ...SETTINGS, ...older, ...other }
    all[version < 160_000 ? "force_parallel_mode" : "debug_parallel_query"] = "on"
    if (version >= 170_000) all["transaction_timeout"] = transaction_timeout
    const lines = Object.entries(all).map(
      ([name, value]) => `alter role ${role} set ${name} = ${name === "search_path" ? value : `'${value}'`};`,
    )
    await client.query(`create role ${role} superuser login; ${lines.join(" ")}`)
    await client.query(TRAPS)
  } finally {
    await client.end()
  }
  const address = new URL(url)
  address.username = role
  return address.href
}

/**
 * Functions with names that Carillon's statements use, found before those of PostgreSQL. A call of one of them fails.
 */
const TRAPS = `
  do $$
  begin
    create schema carillon_odd;
    create access method carillon_odd type table handler heap_tableam_handler;
    create function carillon_odd.date_part(text, timestamptz) returns float8 language sql as 'select 1 / 0.0';
    create function carillon_odd.date_trunc(text, timestamp) returns timestamp language sql as 'select null::timestamp';
    create function carillon_odd.json_array_elements(json) returns setof json language sql
      as 'select null::json where false';
    create function carillon_odd.array_length(anyarray, int) returns int language sql as 'select 0';
    create function carillon_odd.cardinality(anyarray) returns int language sql as 'select 0';
    create function carillon_odd.differs(uuid, uuid) returns boolean language sql as 'select false';
    create operator carillon_odd.= (leftarg = uuid, rightarg = uuid, function = carillon_odd.differs);
  exception when duplicate_schema then
    null;
  end
  $$;
`
