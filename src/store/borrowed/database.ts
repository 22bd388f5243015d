/** The transaction of a caller as a database, for operations that begin transactions of their own. */
import { CarillonError } from "../../errors.ts"
import type { Database } from "../database.ts"
import type { BorrowedTransaction } from "./transaction.ts"

const SAVEPOINT = "carillon_operation"

/** Each transaction of an operation is a savepoint, so a refused operation leaves nothing behind. */
export function databaseIn(borrowed: BorrowedTransaction, database: Database): Database {
  const { run, script } = borrowed
  return {
    ...database,
    run: (statement, params) => run(statement, params),
    transaction: async (body) => {
      await script(`savepoint ${SAVEPOINT}`)
      try {
        const result = await body({ run, script, query: refuse })
        await script(`release savepoint ${SAVEPOINT}`)
        return result
      } catch (error) {
        // If the connection is gone, so is the transaction.
        await script(`rollback to savepoint ${SAVEPOINT}`)
          .then(() => script(`release savepoint ${SAVEPOINT}`))
          .catch(() => {})
        throw error
      }
    },
  }
}

async function refuse(): Promise<never> {
  throw new CarillonError("TRANSACTION_NESTED", "No handler runs in the transaction of a caller.")
}
