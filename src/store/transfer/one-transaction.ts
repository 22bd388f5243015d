/**
 * An open transaction in the shape of a database: what would be transactions of their own become parts of it.
 *
 * With it `migrate` runs unchanged inside a larger transaction. Each part has a savepoint. A part that fails is undone,
 * and the transaction goes on, as a database would.
 */
import { CarillonError } from "../../errors.ts"
import type { Database } from "../database.ts"
import { listApplied } from "../migrations/ledger.ts"
import type { Statement } from "../statement.ts"
import type { CopyTransaction } from "./copy-transaction.ts"
import { findLedger } from "./find-ledger.ts"

export function asDatabase(tx: CopyTransaction, database: Database): Database {
  async function part<T>(work: () => Promise<T>): Promise<T> {
    await tx.script("savepoint part")
    try {
      const result = await work()
      await tx.script("release savepoint part")
      return result
    } catch (error) {
      await tx.script("rollback to savepoint part; release savepoint part").catch(() => {})
      throw error
    }
  }
  return {
    ...database,
    run: async (statement, params) => {
      if (asksForLedger(statement) && (await tx.run(findLedger, { schema: database.schema })).length === 0)
        return []
      return part(() => tx.run(statement, params))
    },
    transaction: (body) =>
      part(() =>
        body({
          run: tx.run,
          script: tx.script,
          query: () => Promise.reject(notHere("query")),
        }),
      ),
    listen: () => Promise.reject(notHere("listen")),
    close: async () => {},
  }
}

/**
 * `migrate` learns from the failure of this statement that there is no ledger. PGlite does not recover from such a
 * failure, not even with a savepoint.
 */
function asksForLedger<P, R>({ name }: Statement<P, R>): boolean {
  return name === listApplied.name
}

function notHere(what: string): CarillonError {
  return new CarillonError(
    "TRANSACTION_NESTED",
    `${what} was called inside a transaction that is not for it.`,
  )
}
