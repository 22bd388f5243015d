/** Runs our statements in the transaction of a caller: on its client, among its own statements. */
import { CarillonError, DatabaseError } from "../../errors.ts"
import type { Runner } from "../database.ts"
import { sqlStateOf, translateError } from "../database-error.ts"
import { transactionBehind } from "../handler-transaction.ts"
import { borrowingIfOdd, type CallersSettings, givingBack } from "../session.ts"
import { type CallersClient, callersClient, type Question, type TextAnswer } from "./callers-client.ts"

/** Lasts until the transaction ends. Outside a transaction that is the end of this statement. */
const MARK = "select pg_catalog.set_config('carillon.transaction', 'open', true)"
const READ_MARK = "select pg_catalog.current_setting('carillon.transaction', true) as mark"

/** SQLSTATE of a statement in a transaction that has already failed. */
const FAILED_BEFORE = "25P02"

/** SQLSTATEs for a missing schema, table, column or function. */
const MISSING = /^(3F000|42P01|42703|42883)$/

/** A transaction of a caller. */
export interface BorrowedTransaction extends Runner {
  /** Sends one statement without parameters, and ignores what it returns. */
  readonly script: (sql: string) => Promise<void>
}

/**
 * Does `work` in the transaction that is open on `tx`: a client of a known library, or what a handler was given.
 * Refuses a client without an open transaction, because each statement would be committed alone.
 *
 * Works on one client take turns. The settings of its session are the caller's. Those that matter are changed for the
 * time of the work if they are odd, which they seldom are; to find out takes one round trip.
 */
export type Borrow = <T>(
  tx: object,
  settings: CallersSettings,
  work: (borrowed: BorrowedTransaction) => Promise<T>,
) => Promise<T>

export function createBorrow(schema: string): Borrow {
  const turns = new WeakMap<object, Promise<unknown>>()

  return (tx, settings, work) => {
    const ours = transactionBehind(tx)
    const before = turns.get(tx) ?? Promise.resolve()
    const turn = before.then(() => (ours ? work(ours) : borrow(tx, { schema, settings, work })))
    // The next turn comes after a failed one too.
    turns.set(
      tx,
      turn.catch(() => {}),
    )
    return turn
  }
}

interface Loan<T> {
  readonly schema: string
  readonly settings: CallersSettings
  readonly work: (borrowed: BorrowedTransaction) => Promise<T>
}

async function borrow<T>(tx: object, { schema, settings, work }: Loan<T>): Promise<T> {
  const client = await callersClient(tx)
  if (client === undefined) throw notOpen("No transaction is open on what was given as `tx`.")
  await assertOpen(client)
  const script = async (text: string) => void (await command(client, text))
  const odd = await command(client, borrowingIfOdd(settings))
  const giveBack = async () => {
    if (odd.rows.length > 0) await script(givingBack(settings))
  }
  const result = await work({ run: runnerOn(client, schema, translated).run, script }).catch(
    async (error: unknown) => {
      // A failed transaction takes no statement. Its rollback gives back.
      await giveBack().catch(() => {})
      throw error
    },
  )
  await giveBack()
  return result
}

/** A runner on a client in whatever state it is. The statement's own error tells. */
export function runnerOn(
  client: CallersClient,
  schema: string,
  translate: Translate = (_, error, name) => translateError(error, name),
): Runner {
  return {
    run: async (statement, params) => {
      const { name, columns } = statement
      const question = { text: statement.text(schema), values: statement.bind(params), columns }
      const answer = await send(client, name, translate, question)
      return statement.read(answer.columns, answer.rows)
    },
  }
}

/**
 * After each answer node-postgres knows whether a transaction is open, so usually no statement is needed. Other drivers
 * do not know, and an idle driver may have a `begin` on its way. Then two statements of ours find out.
 */
async function assertOpen(client: CallersClient): Promise<void> {
  const status = client.status?.()
  if (status === "T") return
  if (status === "E") throw failedBefore()
  await command(client, MARK)
  const { rows } = await command(client, READ_MARK, ["mark"])
  if (rows[0]?.[0] !== "open") throw notOpen("No transaction is open on the client that was given as `tx`.")
}

function command(client: CallersClient, text: string, columns: readonly string[] = []): Promise<TextAnswer> {
  return send(client, "a look at the transaction of `tx`", translated, { text, values: [], columns })
}

type Translate = (client: CallersClient, error: unknown, name: string) => Error

async function send(
  client: CallersClient,
  name: string,
  translate: Translate,
  question: Question,
): Promise<TextAnswer> {
  try {
    return await client.ask(question)
  } catch (error) {
    throw error instanceof CarillonError ? error : translate(client, error, name)
  }
}

function translated(client: CallersClient, error: unknown, name: string): Error {
  const sqlState = sqlStateOf(error)
  if (sqlState === FAILED_BEFORE) return failedBefore(error)
  if (sqlState !== undefined && MISSING.test(sqlState)) return elsewhere(client, error, name)
  // The driver throws this, without a code, if it has not sent the statement.
  if (error instanceof Error && error.message.endsWith("is not queryable")) {
    return notOpen("The connection of the client that was given as `tx` has ended.", error)
  }
  return translateError(error, name)
}

function notOpen(what: string, cause?: unknown): CarillonError {
  const todo = "Nothing was written. Send `begin` on the client first, or leave `tx` out."
  return new CarillonError("TX_NOT_OPEN", `${what} ${todo}`, { cause })
}

function failedBefore(cause?: unknown): CarillonError {
  return new CarillonError(
    "TX_FAILED",
    "An earlier statement in the transaction of `tx` has failed, so nothing can be written in it any more. " +
      "Roll it back, and begin anew with all of it.",
    { cause },
  )
}

/** Carillon's own connections have found its tables, so this client must be connected elsewhere. */
function elsewhere(client: CallersClient, cause: unknown, statement: string): DatabaseError {
  const where = typeof client.database === "string" ? ` (${JSON.stringify(client.database)})` : ""
  return new DatabaseError(
    "TX_ELSEWHERE",
    `The client that was given as \`tx\` is connected to a database${where} in which Carillon's tables are not. ` +
      "Give one that is connected to the database that Carillon uses. Nothing was written.",
    { cause, statement, sqlState: sqlStateOf(cause) },
  )
}
