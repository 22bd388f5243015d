import { readFile } from "node:fs/promises"
import { expect, it } from "vitest"
import { dumpSchema } from "../../scripts/generate/schema-dump.mjs"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import { installTestClock } from "../../src/store/clock/test-clock.ts"
import { text } from "../../src/store/codec.ts"
import type { Database } from "../../src/store/database.ts"
import { statement } from "../../src/store/statement.ts"
import { describeEngines } from "../support/engines.ts"
import { execute, rowsOf } from "../support/sql.ts"

const FILE = "docs/reference/schema.sql"

const dumpOf = (database: Database) => dumpSchema((query) => rowsOf(database, query), database.schema)

/** The functions that read the clock and the state of a run. */
const ASKED = statement({
  name: "test/asked",
  params: {},
  returns: { "QUERY PLAN": text },
  sql: "explain (verbose, costs off) select {schema}.state(runs), {now} from {runs} where due_at <= {now}",
})

/**
 * Tables, partitions too, whose rows logical replication could not tell apart: neither a primary key nor an identity.
 */
const UNIDENTIFIED = (schema: string) => `
  select relname
  from pg_class as relation
  where relnamespace = '${schema}'::regnamespace and relkind in ('r', 'p') and relreplident not in ('f', 'i')
    and not exists (select from pg_index where indrelid = relation.oid and indisprimary)
  order by relname`

/** The committed schema, without the comments on top. */
async function committed(): Promise<string> {
  return (await readFile(FILE, "utf8")).replace(/^(--.*\n|\n)+/, "")
}

describeEngines("the schema that the migrations make", (engine) => {
  it(`is the one in ${FILE}; npm run generate writes it anew`, async () => {
    const { database } = await engine.migrated()
    expect(await dumpOf(database)).toBe(await committed())
  })

  it("has functions that the planner inlines: a call costs nothing", async () => {
    const { database } = await engine.migrated()
    const plan = (await database.run(ASKED, {})).map((row) => row["QUERY PLAN"]).join("\n")
    expect(plan).toContain("clock_timestamp()")
    expect(plan).not.toMatch(/now\(\)|state\(/)
  })

  it("identifies every row, so that a publication for all tables forbids nothing", async () => {
    const { database } = await engine.migrated()
    await execute(database, installTestClock)
    expect(await rowsOf(database, UNIDENTIFIED(database.schema))).toEqual([])
  })

  it("is the same whichever days have partitions", async () => {
    const { database } = await engine.migrated()
    await execute(
      database,
      "create table {attempts_short_19700101} partition of {attempts_short} for values from " +
        "('1970-01-01') to ('1970-01-02')",
    )
    await makePartitions(database)
    expect(await dumpOf(database)).toBe(await committed())
  })
})

describeEngines(
  "a schema that has drifted",
  (engine) => {
    it.each([
      ["a column", "alter table {runs} add column colour text"],
      ["a type", "alter table {runs} alter column attempt type bigint"],
      ["a default", "alter table {runs} alter column attempt set default 1"],
      ["what may be null", "alter table {runs} alter column job drop not null"],
      ["a constraint", "alter table {runs} drop constraint runs_stage"],
      ["an index", "create index on {runs} (job)"],
      ["a storage option", "alter table {runs} reset (fillfactor)"],
      ["a replica identity", "alter table {attempts} replica identity default"],
      ["a function", "create or replace function {schema}.now() returns timestamptz return now()"],
      ["the set of tables", "create table {extra} (id int)"],
    ])("is not taken for the committed one: %s", async (_, change) => {
      const { database } = await engine.migrated()
      await execute(database, change)
      expect(await dumpOf(database)).not.toBe(await committed())
    })

    it.each([
      ["a view", "create view {extra} as select 1 as one"],
      ["a sequence", "create sequence {extra}"],
      ["an enumeration", "create type {extra} as enum ('a')"],
      [
        "a trigger",
        "create trigger extra before update on {runs} execute function suppress_redundant_updates_trigger()",
      ],
    ])("is noticed although the dump leaves it out: %s", async (_, change) => {
      const { database } = await engine.migrated()
      await execute(database, change)
      await expect(dumpOf(database)).rejects.toThrow("does not support extra")
    })
  },
  ["PostgreSQL 18"],
)
