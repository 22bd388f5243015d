/**
 * The one simulated server: PGlite behind sessions that take turns, with a clock that the kernel moves.
 *
 * PGlite has one connection, so while a transaction is open everything else waits for its end, as if it had locked
 * what they need. A session that holds the others up for too long is ended, as an idle one is by PostgreSQL's timeout.
 */
import type { Kernel } from "../kernel/kernel.ts"
import type { Command, Reply, ServerError, Wire } from "./pglite-protocol.ts"

export interface Server {
  /** Microseconds since 1970, by the database's clock. */
  readonly clockUs: () => number
  /** Sets the clock forwards, or back. */
  readonly jump: (us: number) => void
  /** Whether it ever was, and how. */
  readonly clockSet: () => ClockSet
  /** How often it was set back. */
  readonly setBacks: () => number
  /** Ends every session, as a restart does; who is told of it, and when, is up to the network. */
  readonly restart: () => void
  readonly connect: (client: Client) => Session
  /** Whether no transaction is open. */
  readonly isIdle: () => boolean
  /** Asks without taking part: for judges. Only while no transaction is open. */
  readonly ask: (command: Command) => Reply
}

/** What the server says without being asked. */
export interface Client {
  readonly onNotification: (channel: string, payload: string) => void
  /** The session was ended by the server. */
  readonly onEnded: () => void
}

/** What the server keeps of one connection. */
export interface Session {
  /**
   * Runs the commands in their order, as soon as it is this session's turn, and tells what came of each: its reply or
   * the error. Those behind an error are run too.
   */
  readonly run: (commands: readonly Command[], onDone: (outcomes: readonly Outcome[]) => void) => void
  readonly isInside: () => boolean
  readonly isOpen: () => boolean
  /** The connection is gone: what was not committed never will be. */
  readonly end: () => void
}

export type ClockSet = "never" | "forward" | "back"
export type Outcome = Reply | ServerError

/** How long a transaction may hold up everything else. */
const LONGEST_TRANSACTION_US = 2_000_000
const LONGEST_TURN_US = 50

export interface ServerParts {
  readonly kernel: Kernel
  readonly wire: Wire
  /** What the clock says at the beginning. */
  readonly startUs: number
  /** Lets PGlite read the time, which no other code may. */
  readonly trust: <T>(work: () => T) => T
}

export function createServer(parts: ServerParts): Server {
  const { kernel, wire, startUs } = parts
  const sessions = new Map<Session, Client>()
  const listeners = new Map<object, { channels: Set<string>; tell: (name: string, text: string) => void }>()
  let offsetUs = startUs
  let waiting: (() => void)[] = []
  let clockSet: ClockSet = "never"
  let setBacks = 0
  let holder: object | undefined
  let holds = 0

  const clockUs = () => kernel.nowUs() + offsetUs

  const clock = () => `set sim.now = '${formatUs(clockUs())}'; set sim.us = '${startUs + kernel.nowUs()}'`

  function send(command: Command): Reply {
    try {
      return parts.trust(() => wire.send({ ...command, before: clock() }))
    } finally {
      for (const { channel, payload } of wire.takeNotifications()) {
        for (const { channels, tell } of listeners.values()) if (channels.has(channel)) tell(channel, payload)
      }
    }
  }

  function hold(session: object): void {
    holder = session
    holds += 1
    const held = holds
    kernel.after(LONGEST_TRANSACTION_US, () => {
      if (holder === session && holds === held) release()
    })
  }

  /** The waiting statements try again, in a random order. */
  function release(): void {
    // Without the clock, which a transaction that has failed would refuse.
    if (wire.isInside()) parts.trust(() => wire.send({ text: "rollback" }))
    holder = undefined
    const woken = waiting
    waiting = []
    for (const go of woken) kernel.after(kernel.chance.between(0, LONGEST_TURN_US), go)
  }

  function connect(client: Client): Session {
    const tell = client.onNotification
    const session = {}
    let isOpen = true
    let isInside = false

    function runOne(command: Command): Outcome {
      try {
        const listen = /^listen "(.*)"$/.exec(command.text)
        if (!listen) return send(command)
        const channels = listeners.get(session)?.channels ?? new Set<string>()
        listeners.set(session, { channels: channels.add(listen[1] ?? ""), tell })
        return send(command)
      } catch (error) {
        return error as ServerError
      }
    }

    function go(commands: readonly Command[], onDone: (outcomes: readonly Outcome[]) => void): void {
      // Its transaction was ended because it took too long.
      const isLate = isInside && holder !== session
      if (!isOpen || isLate) {
        onDone(commands.map(() => (isOpen ? timeoutError() : restartError())))
        return
      }
      if (holder !== undefined && holder !== session) {
        waiting.push(() => go(commands, onDone))
        return
      }
      const outcomes = commands.map(runOne)
      isInside = wire.isInside()
      if (isInside && holder === undefined) hold(session)
      if (!isInside && holder === session) release()
      onDone(outcomes)
    }

    const opened: Session = {
      run: go,
      isInside: () => isInside,
      isOpen: () => isOpen,
      end: () => {
        isOpen = false
        sessions.delete(opened)
        listeners.delete(session)
        if (holder === session) release()
      },
    }
    sessions.set(opened, client)
    return opened
  }

  return {
    clockUs,
    jump: (us) => {
      offsetUs += us
      clockSet = us < 0 || clockSet === "back" ? "back" : "forward"
      if (us < 0) setBacks += 1
    },
    restart: () => {
      for (const [session, client] of [...sessions]) {
        session.end()
        client.onEnded()
      }
    },
    clockSet: () => clockSet,
    setBacks: () => setBacks,
    connect,
    isIdle: () => holder === undefined,
    ask: (command) => {
      if (holder !== undefined) throw new Error("a transaction is open")
      return send(command)
    },
  }
}

/** PostgreSQL's message to a session that was idle in a transaction for too long. */
function timeoutError(): ServerError {
  return serverError("25P03", "terminating connection due to idle-in-transaction timeout")
}

/** PostgreSQL's message to sessions when it stops. */
export function restartError(): ServerError {
  return serverError("57P01", "terminating connection due to administrator command")
}

export function serverError(code: string, message: string): ServerError {
  return Object.assign(new Error(message), { code, severity: "ERROR" })
}

/** An instant as PostgreSQL reads it, to the microsecond. */
export function formatUs(us: number): string {
  const ms = Math.floor(us / 1_000)
  const micros = String(us - ms * 1_000).padStart(3, "0")
  return new Date(ms).toISOString().replace("Z", `${micros}Z`)
}
