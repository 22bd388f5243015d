/** Runs the one transaction of a transfer: with COPY where there are connections, else through the seam. */
import type { Database } from "../database.ts"
import { inCopyTransaction } from "../server/copy-connection.ts"
import type { CopyOptions, CopyTransaction } from "./copy-transaction.ts"
import { inSeamTransaction } from "./seam-copy.ts"

/** Commits what `body` did, or nothing. */
export function inTransferTransaction<T>(
  database: Database,
  options: CopyOptions,
  body: (tx: CopyTransaction) => Promise<T>,
): Promise<T> {
  const { address: url, schema } = database
  if (url === undefined) return inSeamTransaction(database, options, body)
  return inCopyTransaction({ ...options, url, schema }, body)
}
