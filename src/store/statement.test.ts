import { describe, expect, it } from "vitest"
import { int, nullable, rows, text } from "./codec.ts"
import { statement } from "./statement.ts"

const of = (sql: string, params = {}) => statement({ name: "test/some", params, returns: {}, sql })

describe("a statement", () => {
  it.each([
    "select id from {runs} where stage = 'queued'",
    "with lane as (select pool from {runs}) select pool, {now} from lane",
    "select pg_catalog.pg_get_expr(relpartbound, oid) from pg_class",
  ])("only reads: %s", (sql) => {
    expect(of(sql).reads).toBe(true)
  })

  it.each([
    "insert into {runs} (id) select gen_random_uuid()",
    "with gone as (\n  delete from {runs} returning id\n) select id from gone",
    "UPDATE {runs} SET stage = 'queued'",
    "select id from {runs} for update skip locked",
    "select id from {runs} for key share",
    "select pg_catalog.pg_try_advisory_xact_lock(1)",
    "select pg_catalog.pg_notify('news', '')",
    "select pg_terminate_backend(1)",
    "fetch forward 100 from copied",
    "select set_config('search_path', '', true)",
  ])("does more than read: %s", (sql) => {
    expect(of(sql).reads).toBe(false)
  })

  it("numbers its parameters and names its tables", () => {
    const sql = "select id from {runs} where job = @job and due_at < {now} limit @most"
    expect(of(sql, { job: text, most: int }).text('a "b"')).toBe(
      'select id from "a ""b"""."runs" where job = $1::text and due_at < (select "a ""b""".now()) limit $2::int4',
    )
  })

  it("takes a list of objects as one array for each field, in the order of their names", () => {
    const fires = rows({ dueAt: text, run: nullable(int) })
    const sql = "select @most from unnest(@fires) as fire (@fires.columns) where run <> all (@fires.run)"
    const read = statement({ name: "test/rows", params: { most: int, fires }, returns: {}, sql })
    expect(read.text("s")).toBe(
      "select $1::int4 from unnest($2::text[], $3::int4[]) as fire (due_at, run) where run <> all ($3::int4[])",
    )
    const given = [
      { dueAt: "a", run: 1 },
      { run: null, dueAt: "b" },
    ]
    expect(read.bind({ most: 9, fires: given })).toEqual(["9", '{"a","b"}', '{"1",NULL}'])
    expect(read.bind({ most: 9, fires: [] })).toEqual(["9", "{}", "{}"])
    expect(() => of("select @fires.name", { fires })).toThrow("@fires.name is no field of @fires")
  })

  it("declares the parameters that it uses, no fewer and no more", () => {
    expect(() => of("select 1", { job: text })).toThrow("job")
    expect(() => of("select @job, @pool", { job: text })).toThrow("pool")
  })
})
