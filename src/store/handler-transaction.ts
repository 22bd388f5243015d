/** A transaction of ours as handlers see it, and the way back when they enqueue in it. */
import { CarillonError } from "../errors.ts"
import type { HandlerTransaction } from "../job/context.ts"
import type { Transaction } from "./database.ts"

/** Maps a handle to its transaction. */
const BEHIND = Symbol("the transaction behind it")

/** Gives `body` a handle that works until `body` has ended. */
export async function lendTransaction<T>(
  tx: Transaction,
  body: (handle: HandlerTransaction) => Promise<T>,
): Promise<T> {
  let isOver = false
  const behind = () => {
    if (isOver) throw overError()
    return tx
  }
  const handle = Object.freeze({
    query: (text: string, values: readonly unknown[] = []) => {
      const sent = (async () => behind().query(text, values))()
      // A statement that the handler forgets to await must not end the process. The commit fails because of it anyway.
      sent.catch(() => {})
      return sent
    },
    [BEHIND]: behind,
  })
  try {
    return await body(handle)
  } finally {
    isOver = true
  }
}

/** The transaction behind a handle; `undefined` for anything else. */
export function transactionBehind(handle: object): Transaction | undefined {
  return (handle as { [BEHIND]?: () => Transaction })[BEHIND]?.()
}

function overError(): CarillonError {
  return new CarillonError(
    "TRANSACTION_OVER",
    "The transaction of this handler has ended. Use `tx` inside the function that was given it, and " +
      "await what it does.",
  )
}
