/**
 * What a process gives to the code that runs in it: time to wait by, chance, ids, facts about itself,
 * and the places where a test may let it die.
 *
 * Everything from the store outwards takes these from a `Host` and from nowhere else, so that a
 * simulator can run the whole engine on a virtual clock with seeded chance. Wall-clock time is missing on
 * purpose: what is due, expired or late is decided by the database's clock.
 */
import type { CrashPoint } from "./crash-points.ts"
import type { ProcessProof } from "./process-proof.ts"

export interface Host {
  /** Milliseconds that only ever grow, alike in all threads. For waits and measurements, never for what is due. */
  readonly monotonicMs: () => number
  /**
   * How long ago a moment of `monotonicMs` was, as the database's clock counts: the two differ where a test has that clock
   * in its hands. @default by `monotonicMs`
   */
  readonly agoMs?: (monotonicMs: number) => number
  /** Rests for `ms`. Resolves early, never rejects, when `signal` aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Calls `run` once after `ms`, unless the timer is cancelled before. */
  readonly after: (ms: number, run: () => void) => Timer
  /** Calls `run` again and again, every `ms`, until the timer is cancelled. It does not keep the process alive. */
  readonly every: (ms: number, run: () => void) => Timer
  /** Calls `run` once what has come in meanwhile has been dealt with: for long work in slices. */
  readonly soon: (run: () => void) => void
  /**
   * A new async context (AsyncLocalStorage) to run code in that must not see the one of its caller, nor be seen by it. It
   * begins with what was there when the host was made.
   */
  readonly newContext: () => InContext
  /** A number in [0, 1). */
  readonly random: () => number
  /** 64 random bits as a signed integer, PostgreSQL's bigint. */
  readonly randomBits: () => bigint
  /** A new UUIDv7: unique everywhere, ordered by time, the latest of this process always the largest. */
  readonly newId: () => string
  /** A place where a test may end this process. Does nothing outside the test kit. */
  readonly crashPoint: (name: CrashPoint) => void | Promise<void>
  /** Ends the process at once, with this exit code. */
  readonly exit: (code: number) => void
  /** Writes a line to the terminal: what was asked for to `out`, what is worth knowing to `err`. */
  readonly print: (to: "out" | "err", line: string) => void
  /**
   * Starts a thread of this process, which goes on while the main loop is blocked, or returns `undefined` where there
   * can be none. It never keeps the process alive, and its death does not end the process.
   */
  readonly startThread: (options: ThreadOptions) => Thread | undefined
  /** What others can prove about processes of this host. @default nothing */
  readonly processes?: ProcessProof
  readonly facts: HostFacts
}

/** Runs what it is given in one async context. */
export type InContext = <T>(run: () => T) => T

export interface Timer {
  readonly cancel: () => void
}

export interface ThreadOptions {
  readonly name: string
  /** The module that runs in it. */
  readonly module: URL
  /** Given to it as a copy; a SharedArrayBuffer is shared. */
  readonly data: unknown
  readonly onMessage: (message: unknown) => void
  /** Called once, when it is over, with what it died of. */
  readonly onEnd: (cause: unknown) => void
}

export interface Thread {
  readonly send: (message: unknown) => void
  /** Ends it, whatever it is doing. */
  readonly kill: () => void
}

/** A thread seen from inside: what it was given, and the line to whoever started it. */
export interface ThreadInside {
  readonly host: Host
  readonly data: unknown
  readonly send: (message: unknown) => void
  readonly onMessage: (handler: (message: unknown) => void) => void
  /** Hangs up. The thread is over once nothing is left to do in it. */
  readonly leave: () => void
}

/** What this process is, read once at its start. */
export interface HostFacts {
  readonly pid: number
  /** The file that it runs, as in `server.js`. */
  readonly program: string
  readonly hostname: string
  readonly platform: string
  readonly arch: string
  readonly nodeVersion: string
  /** The edition of the time zone data that it knows, as in `2025c`; empty where the platform does not say. */
  readonly zoneData: string
  /** The name of the user that this process runs as, or the user's number where the system knows no name. */
  readonly user: string
  /** The user this process runs as; absent where the platform has no user ids. */
  readonly uid: number | undefined
  /** Whether a person reads what is printed to `err`, and not a program. */
  readonly isInteractive?: boolean
  readonly cwd: string
  readonly tempDir: string
  readonly env: Readonly<Record<string, string | undefined>>
}
