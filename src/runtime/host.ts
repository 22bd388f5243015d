/**
 * What a process gives to the code in it: timers, chance, ids, facts about itself, and the places where a test may let
 * it die.
 *
 * Everything from the store outwards takes these from a `Host` and from nowhere else. A simulator can therefore run
 * the whole engine on a virtual clock with seeded chance. There is no wall clock on purpose: the database's clock
 * decides what is due, expired or late.
 */
import type { CrashPoint } from "./crash-points.ts"
import type { ProcessProof } from "./process-proof.ts"

export interface Host {
  /** Milliseconds that only grow, alike in all threads. For waits and measurements, never for what is due. */
  readonly monotonicMs: () => number
  /**
   * How long ago a moment of `monotonicMs` was by the database's clock. The two differ where a test moves that clock.
   * @default by `monotonicMs`
   */
  readonly agoMs?: (monotonicMs: number) => number
  /** Waits for `ms`. Resolves early if `signal` aborts, and never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Calls `run` once after `ms`, unless the timer is cancelled first. */
  readonly after: (ms: number, run: () => void) => Timer
  /** Calls `run` every `ms` until the timer is cancelled. It does not keep the process alive. */
  readonly every: (ms: number, run: () => void) => Timer
  /** Calls `run` once, after the events that are waiting now. For long work in slices. */
  readonly soon: (run: () => void) => void
  /**
   * Makes an async context (AsyncLocalStorage) for code that must neither see the context of its caller nor be seen by
   * it. It starts with what was there when the host was made.
   */
  readonly newContext: () => InContext
  /** A random number in [0, 1). */
  readonly random: () => number
  /** 64 random bits as a signed integer, PostgreSQL's bigint. */
  readonly randomBits: () => bigint
  /** A new UUIDv7: unique everywhere, ordered by time, and greater than all earlier ones of this process. */
  readonly newId: () => string
  /** A place where a test may end this process. Does nothing outside the test kit. */
  readonly crashPoint: (name: CrashPoint) => void | Promise<void>
  /** Ends the process at once, with this exit code. */
  readonly exit: (code: number) => void
  /** Writes a line to the terminal: output that was asked for to `out`, messages to `err`. */
  readonly print: (to: "out" | "err", line: string) => void
  /**
   * Starts a thread of this process, which continues while the main loop is blocked. Returns `undefined` where threads
   * are impossible. The thread never keeps the process alive, and its death does not end the process.
   */
  readonly startThread: (options: ThreadOptions) => Thread | undefined
  /**
   * What this process takes of its machine: the memory that it holds, and the longest delay of its event loop since the
   * last call. @default unknown
   */
  readonly load?: () => ProcessLoad
  /** What can be proven about other processes of this host. @default nothing */
  readonly processes?: ProcessProof
  readonly facts: HostFacts
}

export interface ProcessLoad {
  readonly memoryBytes: number
  /** Null for the first call, which begins to measure. */
  readonly delayMs: number | null
}

/** Runs functions in one async context. */
export type InContext = <T>(run: () => T) => T

export interface Timer {
  readonly cancel: () => void
}

export interface ThreadOptions {
  readonly name: string
  /** The module that the thread runs. */
  readonly module: URL
  /** The thread receives a copy. A SharedArrayBuffer is shared. */
  readonly data: unknown
  readonly onMessage: (message: unknown) => void
  /** Called once when the thread has ended, with the error that ended it. */
  readonly onEnd: (cause: unknown) => void
}

export interface Thread {
  readonly send: (message: unknown) => void
  /** Ends the thread, whatever it is doing. */
  readonly kill: () => void
}

/** A thread seen from inside: its data, and the channel to its starter. */
export interface ThreadInside {
  readonly host: Host
  readonly data: unknown
  readonly send: (message: unknown) => void
  readonly onMessage: (handler: (message: unknown) => void) => void
  /** Closes the channel. The thread ends when it has nothing left to do. */
  readonly leave: () => void
}

/** Facts about this process, read once at its start. */
export interface HostFacts {
  readonly pid: number
  /** The file that the process runs, such as `server.js`. */
  readonly program: string
  readonly hostname: string
  readonly platform: string
  readonly arch: string
  readonly nodeVersion: string
  /** The edition of its time zone data, such as `2025c`. Empty where the platform does not tell. */
  readonly zoneData: string
  /** The name of the user of this process, or the user's number if the system knows no name. */
  readonly user: string
  /** The number of that user. Absent where the platform has no user ids. */
  readonly uid: number | undefined
  /** Is `err` a terminal, and not a program? */
  readonly isInteractive?: boolean
  readonly cwd: string
  readonly tempDir: string
  readonly env: Readonly<Record<string, string | undefined>>
}
