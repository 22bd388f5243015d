/**
 * The seam between Carillon and PostgreSQL: four verbs that every engine has.
 *
 * The seam is the connection, not the operations: every statement is written once and runs on a server,
 * on the embedded one and on PGlite. An engine says in `abilities` what it cannot do.
 */
import type { QueryResult } from "../job/context.ts"
import type { Statement, WakeUp } from "./statement.ts"

export interface Database {
  readonly engine: "server" | "embedded" | "pglite"
  readonly schema: string
  readonly abilities: Abilities
  /**
   * Where another thread of this process can connect to the same database; absent where there is only one connection.
   * It may hold a password and is told to nobody else.
   */
  readonly address?: string
  /**
   * Runs one statement and returns its rows. Repeated until the deadline while it is certain that it
   * changed nothing: no connection, a deadlock, a lock timeout, a standby; and whatever was lost of one that only reads.
   */
  run<P, R>(statement: Statement<P, R>, params: P, options?: CallOptions): Promise<R[]>
  /** Commits what `body` did, or nothing. Never repeated: `body` may have done more than SQL. */
  transaction<T>(body: (tx: Transaction) => Promise<T>, options?: CallOptions): Promise<T>
  /**
   * Calls `onMessage` for each notification on `channel`, from when this resolves until it is closed.
   * A lost connection is restored for ever; `onMessage("")` then says that some may have been missed.
   */
  listen(channel: string, onMessage: (payload: string) => void): Promise<Listener>
  close(): Promise<void>
}

/** What an engine can do beyond running statements. */
export interface Abilities {
  /** More than one connection: others may hold locks, hold snapshots and die alone. */
  readonly connections: boolean
  /** More than one process may use the database. */
  readonly processes: boolean
  /** The one process that may use the database finds there what an earlier one, certainly dead, left. @default false */
  readonly inherits?: boolean
}

export interface Transaction extends Runner {
  run<P, R>(statement: Statement<P, R>, params: P): Promise<R[]>
  /** One statement of the users' own, its values as the driver takes and gives them. */
  query(text: string, values: readonly unknown[]): Promise<QueryResult>
  /** Several statements without parameters, for schema changes. Names are resolved, nothing is returned. */
  script(sql: string): Promise<void>
}

/** Whatever runs statements: a transaction of ours, or one of the users'. */
export interface Runner {
  run<P, R>(statement: Statement<P, R>, params: P): Promise<R[]>
}

export interface Listener {
  readonly close: () => Promise<void>
}

export interface CallOptions {
  /** How long the whole call may take, waiting for a connection included. @default DEFAULTS.deadlineMs */
  readonly deadlineMs?: number
  /** How long a transaction waits for each lock that others hold. @default as long as the call may take */
  readonly locksWithinMs?: number
  /**
   * `"vital"` has connections of its own, for what must not wait behind anything else: renewing the
   * lease and settling. `"handler"` is for transactions that handlers hold open, so that they take nothing away from
   * Carillon itself. @default "work"
   */
  readonly connection?: ConnectionClass
  /**
   * Sent right behind the statement of `run`, before that is answered, in a transaction of its own: others are told of what
   * it does as soon as that is done. Nobody waits for it, and nobody hears if it fails. It is also sent, and says what is
   * not true, when the statement fails.
   */
  readonly behind?: SentBehind
  /** Aborted before the statement is sent, it is not sent any more, and the call fails. */
  readonly unless?: AbortSignal
  /** Called right before the statement or the transaction is sent, and again before each repetition. */
  readonly onSent?: () => void
}

export interface SentBehind extends WakeUp {
  /** It has been answered, or will never be. */
  readonly onEnd: () => void
}

export type ConnectionClass = "work" | "vital" | "handler"
