/**
 * How the main loop and the heartbeat's thread speak with each other: messages, and a board for each lease.
 *
 * A board is a few numbers in shared memory, so that each side sees them at once, however busy the other side is. Each
 * number is written by one side only.
 */
import type { LeaseTimes, Renewal } from "./renewer.ts"

export interface Board {
  /** For the other thread. */
  readonly memory: SharedArrayBuffer
  /** The main loop is alive, and may be blocked for so long from now on. */
  readonly pulse: (atMs: number, maxBlockMs: number) => void
  readonly lastPulse: () => Pulse
  /** The thread has renewed the lease, with a call that it sent then. */
  readonly renewed: (sentAtMs: number) => void
  /** When the last renewal was sent. Minus infinity before the first. */
  readonly renewedAtMs: () => number
  /** The thread was told that the lease is dead. */
  readonly lost: () => void
  readonly isLost: () => boolean
}

export interface Pulse {
  readonly atMs: number
  readonly maxBlockMs: number
}

const PULSE_AT = 0
const MAX_BLOCK = 1
const RENEWED_AT = 2
const LOST = 3
const CELLS = 4

const NEVER = BigInt(Number.MIN_SAFE_INTEGER)

/** A board for a new lease. */
export function createBoard(): Board {
  const board = openBoard(new SharedArrayBuffer(CELLS * BigInt64Array.BYTES_PER_ELEMENT))
  board.renewed(Number.NEGATIVE_INFINITY)
  return board
}

/** The same board on the other thread. */
export function openBoard(memory: SharedArrayBuffer): Board {
  const cells = new BigInt64Array(memory)
  const write = (cell: number, ms: number) => Atomics.store(cells, cell, wholeMs(ms))
  const read = (cell: number) => Number(Atomics.load(cells, cell))
  return {
    memory,
    pulse: (atMs, maxBlockMs) => {
      // In this order, so that a thread that reads in between is too patient rather than too strict.
      write(MAX_BLOCK, maxBlockMs)
      write(PULSE_AT, atMs)
    },
    lastPulse: () => ({ atMs: read(PULSE_AT), maxBlockMs: read(MAX_BLOCK) }),
    renewed: (sentAtMs) => {
      write(RENEWED_AT, sentAtMs)
    },
    renewedAtMs: () => {
      const atMs = read(RENEWED_AT)
      return atMs === Number(NEVER) ? Number.NEGATIVE_INFINITY : atMs
    },
    lost: () => {
      write(LOST, 1)
    },
    isLost: () => read(LOST) === 1,
  }
}

/** Rounded down, so that a renewal counts from slightly too early rather than too late. */
function wholeMs(ms: number): bigint {
  return Number.isFinite(ms) ? BigInt(Math.floor(ms)) : NEVER
}

/** The data that a thread starts with. */
export interface ThreadSetup extends LeaseTimes {
  readonly address: string
  readonly schema: string
}

export type ToThread =
  /** Renew this lease from now on, and no other. */
  | { readonly kind: "hold"; readonly lease: string; readonly memory: SharedArrayBuffer }
  /** Renew nothing. */
  | { readonly kind: "drop" }
  | { readonly kind: "stop" }

export type FromThread =
  | Renewal
  /** The server that renewed it. */
  | { readonly kind: "server"; readonly lease: string; readonly server: string | null }
  /** The renewal failed, so many times in a row. */
  | {
      readonly kind: "failed"
      readonly message: string
      readonly failures: number
      readonly atMs: number
    }
