import { type Statement, statement } from "../statement.ts"

/**
 * Detaches a partition from history without blocking readers or writers.
 *
 * Guarantee: after it returns, no query uses the partition as part of history. After an interruption, new queries
 * already skip the partition, and `detach ... finalize` completes the detach.
 * Sent by itself, because PostgreSQL refuses it inside a transaction. Each partition has a statement of its own,
 * because the name of a table cannot be a parameter.
 * Locks: share update exclusive on the table of the class for a moment. Then none, while it waits for transactions that
 * have used the table. Then access exclusive on the partition, which no new query uses.
 */
export function detachPartition({ table, name }: PartitionNames): Statement<object, object> {
  const which = ` ${name}`
  return statement({
    name: `attempts/detach-partition${which}`,
    params: {},
    returns: {},
    plan: "alone",
    sql: `alter table {${table}} detach partition {${name}} concurrently`,
  })
}

export interface PartitionNames {
  /** The table of its class. */
  readonly table: string
  readonly name: string
}
