/** The option `tx`: the transaction of the caller, in which a call writes. */
import type { HandlerTransaction } from "../job/context.ts"
import { optional, satisfies } from "../options/check.ts"
import { isCallersClient } from "../store/borrowed/callers-client.ts"
import type { CallOptions } from "./call-options.ts"

/** The transaction of the caller. */
export interface CallerTransaction {
  /**
   * Writes in the caller's transaction, so that the change exists only if the transaction commits.
   *
   * - a client of node-postgres (`pg.Client` or `pg.PoolClient`) with an open transaction on Carillon's database
   * - the transaction of postgres.js, Drizzle, Kysely, Knex, TypeORM or Prisma, as its function is given it
   * - the transaction of `ctx.transaction`
   * - any object with a `query` that answers as node-postgres does
   *
   * @default a transaction of its own
   */
  readonly tx?: PostgresClient | LibraryTransaction | HandlerTransaction
}

/** What every call that changes a run or a schedule takes beside its own options. */
export interface ChangeOptions extends CallOptions, CallerTransaction {}

/** The part of a node-postgres client that Carillon uses. */
export interface PostgresClient {
  // Clients have many overloads of this method. The call picks one.
  /** Runs one statement. */
  readonly query: (...args: never[]) => unknown
}

/** What tells the transactions of libraries apart: postgres.js, Drizzle, Kysely, Knex, and Prisma. */
export type LibraryTransaction =
  | { readonly unsafe: (...args: never[]) => unknown }
  | { readonly execute: (...args: never[]) => unknown }
  | { readonly executeQuery: (...args: never[]) => unknown }
  | { readonly client: unknown; readonly isTransaction?: boolean }
  | { readonly $queryRawUnsafe: (...args: never[]) => unknown }

export const txCheck = satisfies(
  "a node-postgres client (not a pool), the transaction of another library, or that of a handler",
  isCallersClient,
)

export const txShape = { tx: optional(txCheck) } as const
