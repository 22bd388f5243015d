/**
 * The database under a simulation: one PGlite with one schema, made once and emptied between seeds.
 *
 * Its clock is a setting of the session, which is set before every statement; nothing of real time is left in it.
 */
import type { PGlite } from "@electric-sql/pglite"
import { createSystemHost } from "../../../src/runtime/system.ts"
import { makePartitions } from "../../../src/store/attempts/partitions.ts"
import type { Database } from "../../../src/store/database.ts"
import { makeFirePartitions } from "../../../src/store/fires/partitions.ts"
import { migrate } from "../../../src/store/migrate.ts"
import { createPglite, openPglite } from "../../../src/store/pglite.ts"
import { createWire, type Wire } from "./pglite-protocol.ts"
import { formatUs } from "./server.ts"

export interface Ground {
  readonly schema: string
  readonly wire: Wire
  /** For the judge of the final state: asks at once, beside no transaction. */
  readonly reader: Database
  /** Empties every table. */
  readonly reset: () => void
  /** What PGlite takes for the present: it does not move while it is simulated. */
  readonly realMs: number
  readonly close: () => Promise<void>
}

/** When every simulation begins, by the database's clock. */
export const START_US = Date.UTC(2026, 2, 2, 11, 58) * 1_000

const SCHEMA = "sim"
/** A server that has just started takes no process for dead. */
const UPTIME_MS = 3_600_000

/**
 * Tables of users. `sim_us` is when a row of history was really written, by the kernel: what the rows say themselves is
 * the database's clock, which may be set back.
 */
const INSTALL = `
  create or replace function {schema}.now() returns timestamptz
    language sql stable parallel safe
    return pg_catalog.current_setting('sim.now')::timestamptz;
  create table {marks} (mark text primary key, run uuid);
  create table {finishes} (run uuid, claim text);
  alter table {attempts} add column sim_us bigint default pg_catalog.current_setting('sim.us')::bigint;
`

/** A simulation takes minutes: it leaves nothing in the partitions of other days. */
const HOLDS_TODAY = `pg_get_expr(relpartbound, oid) like '%FROM (''${formatUs(START_US).slice(0, 10)}%'
  or pg_get_expr(relpartbound, oid) like '%FROM (''${formatUs(START_US).slice(0, 7)}-01%'`

export async function layGround(): Promise<Ground> {
  const instance: PGlite = await createPglite()
  const host = createSystemHost()
  const database = await openPglite(host, { schema: SCHEMA, instance })
  await migrate({ ...host, database })
  await instance.exec(
    `set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set sim.now = '${formatUs(START_US)}'; set sim.us = '0'`,
  )
  await database.transaction((tx) => tx.script(INSTALL))
  await makePartitions(database)
  await makeFirePartitions(database)
  // As the connections of the pool have it; and one plan for all values, so that no plan depends on what ran before.
  await instance.exec(`set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off;
    set plan_cache_mode = force_generic_plan; set track_counts = off; set jit = off`)
  const wire = createWire(instance)
  const tables = wire
    .send({
      text: `select relname from pg_class where relnamespace = '${SCHEMA}'::regnamespace and relkind = 'r'
        and relname <> 'migrations' and (not relispartition or ${HOLDS_TODAY})`,
    })
    .rows.map(([table]) => `"${SCHEMA}"."${table}"`)
  return {
    schema: SCHEMA,
    wire,
    realMs: Date.now() + UPTIME_MS,
    reader: readerOf(wire),
    reset: () => {
      if (wire.isInside()) wire.send({ text: "rollback" })
      wire.takeNotifications()
      wire.send({ text: `truncate ${tables.join(", ")} restart identity` })
    },
    close: () => instance.close(),
  }
}

function readerOf(wire: Wire): Database {
  const run: Database["run"] = async (statement, params) => {
    const { columns, rows } = wire.send({ text: statement.text(SCHEMA), values: statement.bind(params) })
    return statement.read(
      columns.map(({ name }) => name),
      rows,
    )
  }
  const unable = () => Promise.reject(new Error("a reader only reads"))
  return {
    engine: "pglite",
    schema: SCHEMA,
    abilities: { connections: false, processes: false },
    run,
    transaction: unable,
    listen: unable,
    close: async () => {},
  }
}
