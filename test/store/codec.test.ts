import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import {
  bigint,
  boolean,
  double,
  instant,
  int,
  json,
  list,
  nullable,
  text,
  uuid,
} from "../../src/store/codec.ts"
import type { Database } from "../../src/store/database.ts"
import { statement } from "../../src/store/statement.ts"
import { describeEngines } from "../support/engines.ts"

/** Text with a meaning in SQL, in array literals or in Carillon's notation, which might therefore not survive. */
const HOSTILE = ["'", '"', "\\", "\n", "\r\n", "{", "}", ",", "NULL", "$1", "@value", "{now}", "--", "é", "𝄞"]

const texts = fc.oneof(
  fc.string({ unit: "binary" }).map((value) => value.replaceAll("\0", "")),
  fc.array(fc.constantFrom(...HOSTILE)).map((pieces) => pieces.join("")),
)
const jsons = fc.oneof(
  fc.json(),
  fc.constantFrom('"\\u0000"', '"\\ud800"', '{"b": 1,  "a":2}', "1e400", "[]", "null", ' "\\\\"\n'),
)
const extremes = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const instants = fc.integer({
  min: Date.parse("0001-01-01T00:00:00.000Z"),
  max: Date.parse("9999-12-31T23:59:59.999Z"),
})

const VALUES = {
  text: texts,
  uuid: fc.uuid(),
  int: fc.integer(),
  double: fc.double({ noNaN: true }).filter((value) => !Object.is(value, -0)),
  bigint: fc.oneof(fc.bigInt(extremes), fc.constantFrom(extremes.min, extremes.max)),
  boolean: fc.boolean(),
  json: jsons,
  instant: instants,
}
const CODECS = { text, uuid, int, double, bigint, boolean, json, instant }
const NULLABLE = {
  text: nullable(text),
  uuid: nullable(uuid),
  int: nullable(int),
  double: nullable(double),
  bigint: nullable(bigint),
  boolean: nullable(boolean),
  json: nullable(json),
  instant: nullable(instant),
}

/** Statements return no doubles, so the database's text of a double is compared. */
const echo = statement({
  name: "test/echo",
  params: CODECS,
  returns: { ...CODECS, double: text },
  sql: `select @text as text, @uuid as uuid, @int as int, @double::text as double, @bigint as bigint,
    @boolean as boolean, @json as json, @instant as instant`,
})

const echoList = statement({
  name: "test/echo-list",
  params: {
    texts: list(nullable(text)),
    uuids: list(nullable(uuid)),
    ints: list(nullable(int)),
    doubles: list(nullable(double)),
    bigints: list(nullable(bigint)),
    booleans: list(nullable(boolean)),
    jsons: list(nullable(json)),
    instants: list(nullable(instant)),
  },
  returns: { ...NULLABLE, double: nullable(text) },
  sql: `select text, uuid, int, double::text as double, bigint, boolean, json, instant
    from unnest(@texts, @uuids, @ints, @doubles, @bigints, @booleans, @jsons, @instants) with ordinality
      as element (text, uuid, int, double, bigint, boolean, json, instant, number)
    order by number`,
})

function withDouble<Row extends { readonly double: string | null }>({ double: digits, ...row }: Row) {
  return { ...row, double: digits === null ? null : Number(digits) }
}

describeEngines("values", (engine) => {
  let database: Database
  beforeAll(async () => {
    database = await engine.open()
  })

  it("come back as they were sent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.record(VALUES), async (values) => {
        expect((await database.run(echo, values)).map(withDouble)).toEqual([values])
      }),
      { numRuns: 100 },
    )
  })

  it("come back from lists as they were sent, nulls among them", async () => {
    const element = fc.record({
      text: fc.option(VALUES.text),
      uuid: fc.option(VALUES.uuid),
      int: fc.option(VALUES.int),
      double: fc.option(VALUES.double),
      bigint: fc.option(VALUES.bigint),
      boolean: fc.option(VALUES.boolean),
      json: fc.option(VALUES.json),
      instant: fc.option(VALUES.instant),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(element), async (elements) => {
        const params = {
          texts: elements.map((element) => element.text),
          uuids: elements.map((element) => element.uuid),
          ints: elements.map((element) => element.int),
          doubles: elements.map((element) => element.double),
          bigints: elements.map((element) => element.bigint),
          booleans: elements.map((element) => element.boolean),
          jsons: elements.map((element) => element.json),
          instants: elements.map((element) => element.instant),
        }
        expect((await database.run(echoList, params)).map(withDouble)).toEqual(elements)
      }),
      { numRuns: 50 },
    )
  })

  it("that PostgreSQL cannot keep are refused as such, and not repeated", async () => {
    const values = { uuid: "01890000-0000-7000-8000-000000000000", int: 1, double: 1, bigint: 1n }
    const rest = { boolean: true, json: "{}", instant: 0 }
    const withNul = database.run(echo, { ...values, ...rest, text: "a\0b" })
    await expect(withNul).rejects.toMatchObject({ code: "DATABASE_REFUSED_VALUE", retryable: false })
    const notJson = database.run(echo, { ...values, ...rest, text: "", json: "{" })
    await expect(notJson).rejects.toMatchObject({ code: "DATABASE_REFUSED_VALUE", sqlState: "22P02" })
    const outOfRange = database.run(echo, { ...values, ...rest, text: "", int: 2 ** 31 })
    await expect(outOfRange).rejects.toMatchObject({ code: "DATABASE_REFUSED_VALUE", sqlState: "22003" })
  })

  it("drop microseconds of the server's clock: an instant is whole milliseconds", async () => {
    const moment = statement({
      name: "test/moment",
      params: {},
      returns: { at: instant },
      sql: "select timestamptz '2026-03-01 10:00:00.123987+02' as at",
    })
    expect(await database.run(moment, {})).toEqual([{ at: Date.parse("2026-03-01T08:00:00.123Z") }])
  })
})

describe("a codec", () => {
  it("refuses null unless it was declared nullable", () => {
    expect(() => int.decode(null)).toThrow("null where a int4 was declared")
    expect(nullable(int).decode(null)).toBeNull()
  })
})
