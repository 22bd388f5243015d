/** A rewritten statement takes texts and answers with one text, whatever kind of statement it was. */
import { expect, it } from "vitest"
import { inText } from "./in-text.ts"

const shape = (sql: string, columns: readonly string[] = ["id", "at"]) =>
  inText(sql, columns).replaceAll(/\s+/g, " ")
const last =
  "select pg_catalog.json_build_array(returned.id::text, returned.at::text)::text as answer from returned"

it("names the statement, and selects its columns as texts", () => {
  expect(shape("insert into t values ($1::uuid) returning id, at")).toBe(
    `with returned as (insert into t values ($1::text::uuid) returning id, at) ${last}`,
  )
})

it("joins a list of `with`, because a statement that changes rows may stand only there", () => {
  const list =
    "with a as materialized ( select ')' as x -- a (comment\n ), b (n) as (insert into t select 1 returning n)"
  expect(shape(`${list} select id, at from a, b`)).toBe(
    `${list.replaceAll(/\s+/g, " ")}, returned as (select id, at from a, b) ${last}`,
  )
  expect(shape("with a as (select 1) delete from t returning id, at")).toBe(
    `with a as (select 1), returned as (delete from t returning id, at) ${last}`,
  )
})

it("leaves a statement alone that returns nothing, but for the types of its parameters", () => {
  expect(shape("update t set a = $1::json, b = $12::int8[]", [])).toBe(
    "update t set a = $1::text::json, b = $12::text::int8[]",
  )
})
