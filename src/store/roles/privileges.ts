/** What a role needs in order to run Carillon on tables that it does not own. */
import { TABLES } from "../transfer/tables.ts"

export interface Privilege {
  readonly kind: "schema" | "table" | "function"
  /** The name of the table or function; empty for the schema. */
  readonly name: string
  readonly privilege: string
}

/** The privileges to read, write and delete the rows of a table. Partitions are reached through their parents. */
export const ROWS = ["select", "insert", "update", "delete"] as const

/** The ledger of migrations, which only the owner writes. */
export const LEDGER = "migrations"

/** The functions of the schema. No two have the same name. */
export const FUNCTIONS = [
  "now",
  "state",
  "make_day",
  "make_month",
  "drop_expired",
  "duration_ms",
  "enqueue",
] as const

/** The functions that a role needs that only reads. They change nothing. */
export const READING_FUNCTIONS = ["now", "state", "duration_ms"] as const

/** All privileges. `carillon db grant` grants exactly these, and a start checks them. */
export const PRIVILEGES: readonly Privilege[] = [
  { kind: "schema", name: "", privilege: "usage" },
  { kind: "table", name: LEDGER, privilege: "select" },
  ...TABLES.flatMap((name) => ROWS.map((privilege) => ({ kind: "table", name, privilege }) as const)),
  ...FUNCTIONS.map((name) => ({ kind: "function", name, privilege: "execute" }) as const),
]
