/** Runs our statements on a connection of the users', inside the transaction that they have open there. */
import { CarillonError, DatabaseError } from "../errors.ts"
import type { Runner } from "./database.ts"
import { sqlStateOf, translateError } from "./database-error.ts"
import { transactionBehind } from "./handler-transaction.ts"
import { borrowing, givingBack, OURS } from "./session.ts"

interface Config {
  readonly text: string
  readonly values: readonly (string | null)[]
  readonly rowMode: "array"
  readonly types: { readonly getTypeParser: () => (value: unknown) => unknown }
}

interface Result {
  readonly fields: readonly { readonly name: string }[]
  readonly rows: readonly (readonly (string | null)[])[]
}

/** The part of a node-postgres client that we use: `pg.Client` and `pg.PoolClient` have it. */
export interface BorrowedClient {
  readonly query: (config: Config) => Promise<Result>
  /** Idle, in a transaction, in a failed one; null before the first answer. Older drivers do not say. */
  readonly getTransactionStatus?: () => "I" | "T" | "E" | null
  /** To which database it is connected. */
  readonly database?: unknown
}

/** Every value stays the text that the server sent. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value }

/** An array that holds a null; now and then a text that only looks like one. */
const NULL_ELEMENT = /^\{(?:.*,)?NULL[,}]/s

/**
 * The settings of the session are the user's, and asking for ours would take two more round trips for each statement.
 * Those that are run here return no instants and no fractions, and find few rows by keys. Only `array_nulls = off` would
 * make a text of the nulls among the options of several runs: it is put right for these.
 */
const NULLS = { array_nulls: OURS.array_nulls }

/** Set until the transaction ends, and so gone with its own statement where there is none. */
const MARK = "select pg_catalog.set_config('carillon.transaction', 'open', true)"
const READ_MARK = "select pg_catalog.current_setting('carillon.transaction', true)"

/** What the server says of a statement in a transaction in which another one has failed. */
const FAILED_BEFORE = "25P02"

/** What is not there: a schema, a table, a column, a function. */
const MISSING = /^(3F000|42P01|42703|42883)$/

/**
 * A runner for the transaction that is open on `client`: a node-postgres client, or what a handler was given. Refuses a
 * client on which none is open: each statement would be committed by itself.
 */
export async function borrow(client: object, schema: string): Promise<Runner> {
  const ours = transactionBehind(client)
  if (ours) return ours
  await assertOpen(client as BorrowedClient)
  return runnerOn(client as BorrowedClient, schema, translated)
}

/** The same for a client of our own, in whatever it has open: an error is what the statement says. */
export function runnerOn(
  client: BorrowedClient,
  schema: string,
  translate: Translate = (_, error, name) => translateError(error, name),
): Runner {
  return {
    run: async (statement, params) => {
      const values = statement.bind(params)
      const ask = (text: string, values: (string | null)[] = []) =>
        send(client, statement.name, translate, { text, values })
      const needsNulls = values.some((value) => value !== null && NULL_ELEMENT.test(value))
      if (needsNulls) await ask(borrowing(NULLS))
      const result = await ask(statement.text(schema), values)
      if (needsNulls) await ask(givingBack(NULLS))
      return statement.read(
        result.fields.map(({ name }) => name),
        result.rows,
      )
    },
  }
}

/**
 * The driver knows whether a transaction is open, after each answer: nothing is asked then. What it does not know, or
 * knows to be idle while a `begin` may be on its way, two statements of ours find out.
 */
async function assertOpen(client: BorrowedClient): Promise<void> {
  const status = client.getTransactionStatus?.()
  if (status === "T") return
  if (status === "E") throw failedBefore()
  const name = "a look for the transaction of `tx`"
  await send(client, name, translated, { text: MARK, values: [] })
  const { rows } = await send(client, name, translated, { text: READ_MARK, values: [] })
  if (rows[0]?.[0] !== "open") throw notOpen("No transaction is open on the client that was given as `tx`.")
}

type Translate = (client: BorrowedClient, error: unknown, name: string) => Error

async function send(
  client: BorrowedClient,
  name: string,
  translate: Translate,
  { text, values }: Pick<Config, "text" | "values">,
): Promise<Result> {
  let result: Result | undefined
  try {
    result = await client.query({ text, values, rowMode: "array", types: AS_TEXT })
  } catch (error) {
    throw translate(client, error, name)
  }
  if (!Array.isArray(result?.fields) || !Array.isArray(result.rows)) {
    throw notOpen(
      "The client that was given as `tx` does not answer as a client of node-postgres does, with `fields` and `rows`.",
    )
  }
  return result
}

function translated(client: BorrowedClient, error: unknown, name: string): Error {
  const sqlState = sqlStateOf(error)
  if (sqlState === FAILED_BEFORE) return failedBefore(error)
  if (sqlState !== undefined && MISSING.test(sqlState)) return elsewhere(client, error, name)
  // The driver says this, without a code, when it has not sent the statement.
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

/** Carillon's own connections have found its tables before. */
function elsewhere(client: BorrowedClient, cause: unknown, statement: string): DatabaseError {
  const where = typeof client.database === "string" ? ` (${JSON.stringify(client.database)})` : ""
  return new DatabaseError(
    "TX_ELSEWHERE",
    `The client that was given as \`tx\` is connected to a database${where} in which Carillon's tables are not. ` +
      "Give one that is connected to the database that Carillon uses. Nothing was written.",
    { cause, statement, sqlState: sqlStateOf(cause) },
  )
}
