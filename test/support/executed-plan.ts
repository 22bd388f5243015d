/** How PostgreSQL executed a prepared statement: the plan that production would get. */
import { createHash } from "node:crypto"
import { json } from "../../src/store/codec.ts"
import type { Database } from "../../src/store/database.ts"
import { type Statement, statement } from "../../src/store/statement.ts"

/** One node of a plan, with those below it. */
export interface PlanNode {
  readonly type: string
  /** The table that it reads or writes. */
  readonly table: string | undefined
  readonly index: string | undefined
  /** How many rows it has read, filtered ones included. */
  readonly rows: number
  /** How many pages it and the nodes below it have read, also for dead rows. */
  readonly pages: number
  /** How many pairs of rows it has joined and then rejected. */
  readonly mismatches: number
  /** How often it walks a whole list to find its rows. */
  readonly searches: number
  /** Whether it was executed at all: a node that was not has read nothing, and says nothing about its cost. */
  readonly isExecuted: boolean
  /** Whether it answers a subquery of the node above, and does not feed it rows. */
  readonly isAside: boolean
  readonly below: readonly PlanNode[]
}

/** Executes what was prepared under the statement's name, on the only connection, and returns the plan. */
export async function executedPlan<P, R>(
  database: Database,
  { name, plan, bind }: Statement<P, R>,
  params: P,
): Promise<PlanNode[]> {
  const values = bind(params).map((value) => (value === null ? "null" : literalOf(value)))
  const given = values.length > 0 ? `(${values.join(", ")})` : ""
  const sql = `explain (analyze, buffers, costs off, timing off, format json) execute "${name}" ${given}`
  const explain = statement({
    name: `test/${createHash("sha256").update(sql).digest("hex").slice(0, 32)}`,
    params: {},
    returns: { "QUERY PLAN": json },
    plan,
    sql,
  })
  const [row] = await database.run(explain, {})
  return flatten(nodeOf(JSON.parse(row?.["QUERY PLAN"] ?? "[]")[0].Plan))
}

/** A text in SQL. A brace becomes its character code, or it would be taken for the name of a table. */
function literalOf(value: string): string {
  const escaped = value.replaceAll("\\", "\\\\").replaceAll("'", "''").replaceAll("{", "\\007B")
  return `U&'${escaped}'`
}

function nodeOf(raw: RawNode): PlanNode {
  return {
    type: raw["Node Type"],
    table: raw["Relation Name"],
    index: raw["Index Name"],
    rows: ((raw["Actual Rows"] ?? 0) + (raw["Rows Removed by Filter"] ?? 0)) * (raw["Actual Loops"] ?? 1),
    pages: (raw["Shared Hit Blocks"] ?? 0) + (raw["Shared Read Blocks"] ?? 0),
    mismatches: (raw["Rows Removed by Join Filter"] ?? 0) * (raw["Actual Loops"] ?? 1),
    searches: CONDITIONS.some((name) => raw[name]?.includes(" = ANY ")) ? (raw["Actual Loops"] ?? 1) : 0,
    isExecuted: (raw["Actual Loops"] ?? 0) > 0,
    isAside: /Plan$/.test(raw["Parent Relationship"] ?? ""),
    below: (raw.Plans ?? []).map(nodeOf),
  }
}

const CONDITIONS = ["Index Cond", "TID Cond", "Filter"] as const

/** In PostgreSQL's notation. */
interface RawNode {
  readonly "Node Type": string
  readonly "Parent Relationship"?: string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Actual Rows"?: number
  readonly "Actual Loops"?: number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Join Filter"?: number
  readonly "Shared Hit Blocks"?: number
  readonly "Shared Read Blocks"?: number
  readonly "Index Cond"?: string
  readonly "TID Cond"?: string
  readonly Filter?: string
  readonly Plans?: readonly RawNode[]
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...node.below.flatMap(flatten)]
}
