/** What a role needs in order to run Carillon on tables that it does not own. */
import { TABLES } from "../transfer/tables.ts"

export interface Privilege {
  readonly kind: "schema" | "table" | "function"
  /** Of the table or function; empty for the schema. */
  readonly name: string
  readonly privilege: string
}

/** Who may read the rows of a table, and write and delete them. Partitions are reached through their tables. */
export const ROWS = ["select", "insert", "update", "delete"] as const

/** The ledger of migrations is written by the owner alone. */
export const LEDGER = "migrations"

/** Those of the schema. No two have the same name. */
export const FUNCTIONS = ["now", "state", "make_day", "make_month", "drop_expired"] as const

/** All of them; `carillon db grant` gives exactly these, and a start asks for them. */
export const PRIVILEGES: readonly Privilege[] = [
  { kind: "schema", name: "", privilege: "usage" },
  { kind: "table", name: LEDGER, privilege: "select" },
  ...TABLES.flatMap((name) => ROWS.map((privilege) => ({ kind: "table", name, privilege }) as const)),
  ...FUNCTIONS.map((name) => ({ kind: "function", name, privilege: "execute" }) as const),
]
