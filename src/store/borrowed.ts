/** Runs our statements on a connection of the users', inside whatever transaction they have open there. */

import type { Runner } from "./database.ts"
import { translateError } from "./database-error.ts"
import { transactionBehind } from "./handler-transaction.ts"

/** The part of a node-postgres client that we use: `pg.Client` and `pg.PoolClient` have it. */
export interface BorrowedClient {
  readonly query: (config: {
    text: string
    values: (string | null)[]
    rowMode: "array"
    types: { getTypeParser: () => (value: unknown) => unknown }
  }) => Promise<{ fields: readonly { name: string }[]; rows: readonly (readonly (string | null)[])[] }>
}

/** Every value stays the text that the server sent. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value }

/** A runner for the transaction that is open on `client`: a node-postgres client, or what a handler was given. */
export function borrow(client: object, schema: string): Runner {
  const ours = transactionBehind(client)
  if (ours) return ours
  const { query } = client as BorrowedClient
  return {
    run: async (statement, params) => {
      const config = {
        text: statement.text(schema),
        values: statement.bind(params),
        rowMode: "array",
        types: AS_TEXT,
      } as const
      try {
        const result = await query.call(client, config)
        return statement.read(
          result.fields.map(({ name }) => name),
          result.rows,
        )
      } catch (error) {
        throw error instanceof TypeError ? error : translateError(error, statement.name)
      }
    },
  }
}
