import { type Statement, statement } from "../statement.ts"

/**
 * Takes a partition out of history without making anybody wait.
 *
 * Guarantee: when it returns, no query uses the partition as a part of history. When it is interrupted, new queries
 * already pass the partition over, and `detach ... finalize` completes it.
 * Sent by itself: PostgreSQL refuses it inside a transaction. The name of a table is no parameter, so each partition
 * has a statement of its own.
 * Locks: share update exclusive on the class's table for a moment, then none while it waits for the transactions that
 * have used the table, then access exclusive on the partition, which nobody new asks for.
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
