/** Runs our statements on a user's connection, inside the transaction that is open there. */
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

/** The part of a node-postgres client that we use. `pg.Client` and `pg.PoolClient` have it. */
export interface BorrowedClient {
  readonly query: (config: Config) => Promise<Result>
  /** Idle, in a transaction, or in a failed one. Null before the first answer. Older drivers do not tell. */
  readonly getTransactionStatus?: () => "I" | "T" | "E" | null
  /** The database that it is connected to. */
  readonly database?: unknown
}

/** Keeps every value as the text that the server sent. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value }

/** Matches an array that holds a null, and sometimes a text that only looks like one. */
const NULL_ELEMENT = /^\{(?:.*,)?NULL[,}]/s

/**
 * The settings of the session are the user's. Setting ours would take two more round trips for each statement. The
 * statements that run here return no instants and no fractions, and find few rows, by key. Only `array_nulls = off`
 * would matter: it turns the nulls in a list of options into texts. It is set for those statements.
 */
const NULLS = { array_nulls: OURS.array_nulls }

/** Lasts until the transaction ends. Outside a transaction that is the end of this statement. */
const MARK = "select pg_catalog.set_config('carillon.transaction', 'open', true)"
const READ_MARK = "select pg_catalog.current_setting('carillon.transaction', true)"

/** SQLSTATE of a statement in a transaction that has already failed. */
const FAILED_BEFORE = "25P02"

/** SQLSTATEs for a missing schema, table, column or function. */
const MISSING = /^(3F000|42P01|42703|42883)$/

/**
 * A runner for the transaction that is open on `client`: a node-postgres client, or what a handler was given. Refuses
 * a client without an open transaction, because each statement would be committed alone.
 */
export async function borrow(client: object, schema: string): Promise<Runner> {
  const ours = transactionBehind(client)
  if (ours) return ours
  await assertOpen(client as BorrowedClient)
  return runnerOn(client as BorrowedClient, schema, translated)
}

/** The same for a client of our own, in any state. The statement's own error tells. */
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
 * After each answer the driver knows whether a transaction is open, so usually no statement is needed. Older drivers
 * do not know, and an idle driver may have a `begin` on its way. Then two statements of ours find out.
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
function elsewhere(client: BorrowedClient, cause: unknown, statement: string): DatabaseError {
  const where = typeof client.database === "string" ? ` (${JSON.stringify(client.database)})` : ""
  return new DatabaseError(
    "TX_ELSEWHERE",
    `The client that was given as \`tx\` is connected to a database${where} in which Carillon's tables are not. ` +
      "Give one that is connected to the database that Carillon uses. Nothing was written.",
    { cause, statement, sqlState: sqlStateOf(cause) },
  )
}
