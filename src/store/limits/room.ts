import { int, list, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { admittedUnder } from "./counted.ts"

/**
 * How many more runs may be admitted under each key: the cap of its limit, minus its ready and running runs. A limit
 * that is not declared has the safest cap, one.
 *
 * Index: as in counted.ts; the primary key of limits.
 */
export const roomUnderLimits = statement({
  name: "limits/room",
  params: { keys: list(text), limits: list(nullable(text)) },
  returns: { key: text, room: int },
  plan: "index",
  sql: `
  select key, (
      coalesce((select cap from {limits} where name = wanted.limit_name), 1)
      - ${admittedUnder("wanted.key")}
    )::int as room
  from unnest(@keys, @limits) as wanted (key, limit_name)
`,
})
