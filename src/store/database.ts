/**
 * The seam between Carillon and PostgreSQL: four verbs that every engine has.
 *
 * The seam is the connection and not the operations. Every statement is written once and runs on a server, on the
 * embedded server and on PGlite. `abilities` says what an engine cannot do.
 */
import type { QueryResult } from "../job/context.ts"
import type { Statement, WakeUp } from "./statement.ts"

export interface Database {
  readonly engine: "server" | "embedded" | "pglite"
  readonly schema: string
  readonly abilities: Abilities
  /**
   * Where another thread of this process can connect to the same database. Absent if there is only one connection. It
   * may hold a password, so it is passed to nothing else.
   */
  readonly address?: string
  /**
   * Runs one statement and returns its rows. Repeats it until the deadline while it certainly changed nothing: no
   * connection, a deadlock, a lock timeout, a standby. Repeats a statement that only reads after any lost answer.
   */
  run<P, R>(statement: Statement<P, R>, params: P, options?: CallOptions): Promise<R[]>
  /** Commits what `body` did, or nothing. Never repeats it: `body` may have done more than SQL. */
  transaction<T>(body: (tx: Transaction) => Promise<T>, options?: CallOptions): Promise<T>
  /**
   * Calls `onMessage` for each notification on `channel`, from the moment this resolves until the listener is closed.
   * Reconnects for ever. After a reconnect it calls `onMessage("")`, because notifications may have been missed.
   */
  listen(channel: string, onMessage: (payload: string) => void): Promise<Listener>
  close(): Promise<void>
}

/** What an engine can do beyond running statements. */
export interface Abilities {
  /** It has more than one connection: other sessions may hold locks, hold snapshots and die alone. */
  readonly connections: boolean
  /** More than one process may use the database. */
  readonly processes: boolean
  /** One process at a time uses the database, and finds there what the last one left when it died. @default false */
  readonly inherits?: boolean
}

export interface Transaction extends Runner {
  run<P, R>(statement: Statement<P, R>, params: P): Promise<R[]>
  /** One statement of the user, with values as the driver takes and returns them. */
  query(text: string, values: readonly unknown[]): Promise<QueryResult>
  /** Several statements without parameters, for schema changes. Resolves names, returns nothing. */
  script(sql: string): Promise<void>
}

/** What runs statements: a transaction of ours, or one of the user's. */
export interface Runner {
  run<P, R>(statement: Statement<P, R>, params: P): Promise<R[]>
}

export interface Listener {
  readonly close: () => Promise<void>
}

export interface CallOptions {
  /** How long the whole call may take, including the wait for a connection. @default DEFAULTS.deadlineMs */
  readonly deadlineMs?: number
  /** How long a transaction waits for each lock. @default as long as the call may take */
  readonly locksWithinMs?: number
  /**
   * Which connections the call uses. `"vital"`: for renewing the lease and settling, which must wait for nothing else.
   * `"handler"`: for transactions that handlers hold open, so that they take no connection from Carillon itself.
   * @default "work"
   */
  readonly connection?: ConnectionClass
  /**
   * Sent right behind the statement of `run`, before its answer, in a transaction of its own. Others then hear of the
   * change as soon as it is committed. The call does not wait for it and does not report its failure. It is sent even
   * if the statement fails, and is then untrue.
   */
  readonly behind?: SentBehind
  /** If it aborts before the statement is sent, the statement is not sent and the call fails. */
  readonly unless?: AbortSignal
  /** Called right before the statement or the transaction is sent, and again before each repetition. */
  readonly onSent?: () => void
}

export interface SentBehind extends WakeUp {
  /** The statement has been answered, or never will be. */
  readonly onEnd: () => void
}

export type ConnectionClass = "work" | "vital" | "handler"
