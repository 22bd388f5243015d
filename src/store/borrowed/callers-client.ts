/**
 * Sends statements through the transaction of a caller. The library that it comes from is recognised by its shape and
 * never imported.
 */
import { CarillonError } from "../../errors.ts"
import { ANSWER, inText } from "./in-text.ts"

/** A statement, and the names of the columns that it returns. */
export interface Question {
  readonly text: string
  readonly values: readonly (string | null)[]
  readonly columns: readonly string[]
}

/** Each value is the text that the server sent. */
export interface TextAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
}

export interface CallersClient {
  readonly ask: (question: Question) => Promise<TextAnswer>
  /** Idle, in a transaction, or in a failed one. Absent for drivers that do not tell, null before the first answer. */
  readonly status?: () => "I" | "T" | "E" | null
  /** The name of the database that it is connected to, where the driver tells. */
  readonly database?: unknown
}

type Method = (...args: unknown[]) => unknown

/** The members by which libraries are told apart. */
interface Shape {
  readonly query?: Method
  /** Of a pool of node-postgres. */
  readonly totalCount?: unknown
  readonly getTransactionStatus?: () => "I" | "T" | "E" | null
  readonly database?: unknown
  /** Of postgres.js. */
  readonly unsafe?: Method
  /** Of Kysely, and of Knex. */
  readonly isTransaction?: unknown
  readonly executeQuery?: Method
  readonly client?: { readonly acquireConnection?: Method }
  /** Of Drizzle. */
  readonly execute?: Method
  readonly session?: { readonly client?: unknown }
  /** Of TypeORM: an entity manager has a query runner. */
  readonly queryRunner?: unknown
  readonly isTransactionActive?: unknown
  readonly connect?: Method
  /** Of Prisma. */
  readonly $queryRawUnsafe?: Method
}

/** Whether statements can be sent through `tx`. A pool has `query` too, but sends each one to another session. */
export function isCallersClient(tx: unknown): boolean {
  return tx !== null && (typeof tx === "object" || typeof tx === "function") && wayOf(tx) !== undefined
}

/** `undefined` if no library is recognised. */
export async function callersClient(tx: object): Promise<CallersClient | undefined> {
  return wayOf(tx)?.()
}

type Way = () => CallersClient | undefined | Promise<CallersClient | undefined>

function wayOf(tx: Shape): Way | undefined {
  const { client, session, queryRunner } = tx
  if (tx.$queryRawUnsafe) {
    return () => inTexts(({ text, values }) => withServersError(tx.$queryRawUnsafe?.(text, ...values)))
  }
  if (tx.executeQuery) {
    return () => inTexts(async (question) => rowsOf(await tx.executeQuery?.(kyselyQuery(question))))
  }
  // The functions of postgres.js need no `this`, and its answer is an array with more members.
  if (tx.unsafe) return () => inTexts(({ text, values }) => tx.unsafe?.(text, values))
  if (tx.isTransaction === true && client?.acquireConnection) {
    return () => connectionOf(() => client.acquireConnection?.())
  }
  if (tx.execute && session && "client" in session) return () => connectionOf(() => session.client)
  if ("isTransactionActive" in tx && tx.connect) return () => connectionOf(() => tx.connect?.())
  if (isObject(queryRunner)) return wayOf(queryRunner)
  if (typeof tx.query === "function" && tx.totalCount === undefined) return () => nodePostgres(tx)
  return undefined
}

/** The connection below a library, which is one of another driver. */
async function connectionOf(get: () => unknown): Promise<CallersClient | undefined> {
  const connection = await get()
  return isObject(connection) ? callersClient(connection) : undefined
}

function isObject(value: unknown): value is object {
  return value !== null && (typeof value === "object" || typeof value === "function")
}

/** Keeps every value as the text that the server sent. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value }

/** A client of node-postgres, or any that answers `query` as it does. */
export function nodePostgres(client: Shape): CallersClient {
  return {
    ask: async ({ text, values }) => {
      const result = (await client.query?.({ text, values, rowMode: "array", types: AS_TEXT })) as
        | { readonly fields?: readonly { readonly name: string }[]; readonly rows?: TextAnswer["rows"] }
        | undefined
      const { fields, rows } = result ?? {}
      if (!Array.isArray(fields) || !Array.isArray(rows)) throw strangeAnswer()
      return { columns: fields.map(({ name }) => name), rows }
    },
    status: () => client.getTransactionStatus?.() ?? null,
    database: client.database,
  }
}

/** A driver that converts values. */
function inTexts(send: (question: Question) => unknown): CallersClient {
  return {
    ask: async ({ text, values, columns }) => {
      const rows = await send({ text: inText(text, columns), values, columns })
      if (!Array.isArray(rows)) throw strangeAnswer()
      const answers = rows as readonly Readonly<Record<string, unknown>>[]
      if (columns.length === 0) return { columns, rows: answers.map(() => []) }
      return { columns, rows: answers.map((row) => JSON.parse(String(row[ANSWER]))) }
    },
  }
}

/** Prisma hides the error of the server in its own. */
async function withServersError(sent: unknown): Promise<unknown> {
  try {
    return await sent
  } catch (error) {
    const { meta } = error as { meta?: { driverAdapterError?: { cause?: Record<string, unknown> } } }
    const { originalCode: code, originalMessage } = meta?.driverAdapterError?.cause ?? {}
    if (typeof code !== "string") throw error
    const message = String(originalMessage ?? code)
    throw Object.assign(new Error(message, { cause: error }), { code, severity: "ERROR" })
  }
}

function rowsOf(result: unknown): unknown {
  return (result as { readonly rows?: unknown } | undefined)?.rows
}

function kyselyQuery({ text, values }: Question) {
  return {
    sql: text,
    parameters: values,
    query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
    queryId: { queryId: "carillon" },
  }
}

function strangeAnswer(): CarillonError {
  return new CarillonError(
    "TX_NOT_OPEN",
    "The client that was given as `tx` does not answer as a client of node-postgres does, with `fields` and `rows`. " +
      "Nothing was written. Give the transaction of a library that Carillon knows, or leave `tx` out.",
  )
}
