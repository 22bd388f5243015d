/**
 * The network between one process and the server: it delays, holds back, drops, cuts and turns away, message by
 * message.
 *
 * What is held back comes through later, as after a partition that TCP outlives; what is dropped never does.
 */
import { once } from "node:events"
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net"
import { setTimeout as moment } from "node:timers/promises"
import { type Direction, socketOf, through } from "../support/faulty-network.ts"
import { createMessageReader, type Message, textOf } from "../support/wire-messages.ts"

/** What becomes of a message: a number is a delay in milliseconds. */
export type Fate = "pass" | "drop" | "cut" | number

export interface Line {
  readonly number: number
  /** Whether the client has asked for notifications on it. */
  readonly listens: boolean
  /** The last statement that was sent, also if it had been prepared before. */
  readonly statement: string
}

export type Rule = (message: Message, direction: Direction, line: Line) => Fate

export interface Network {
  readonly url: string
  /** Decides about every message from now on. */
  readonly obey: (rule: Rule) => void
  /** Keeps what goes in these directions until `pass`. */
  readonly hold: (...directions: Direction[]) => void
  /** Everything as it should be: what was held back is delivered. */
  readonly pass: () => void
  /** Resets the connections that are open. */
  readonly reset: () => void
  /** Resets those that are open and every new one, until `pass`. */
  readonly refuse: () => void
  /** How many lines there have been: the next one has this number. */
  readonly lines: () => number
  readonly counts: Readonly<Record<"passed" | "dropped" | "cut" | "delayed" | "held" | "refused", number>>
  readonly close: () => Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  readonly held: (() => void)[]
}

export async function openNetwork(serverUrl: string): Promise<Network> {
  const pairs = new Set<Pair>()
  const counts = { passed: 0, dropped: 0, cut: 0, delayed: 0, held: 0, refused: 0 }
  let rule: Rule = () => "pass"
  let holding: readonly Direction[] = []
  let refusing = false
  let numbers = 0

  const reset = ({ client, server }: Pair) => {
    client.resetAndDestroy()
    server.destroy()
  }

  function connect(client: Socket): void {
    if (refusing) {
      counts.refused += 1
      client.resetAndDestroy()
      return
    }
    const pair: Pair = { client, server: createConnection(socketOf(serverUrl)), held: [] }
    pairs.add(pair)
    for (const [one, other] of [
      [pair.client, pair.server],
      [pair.server, pair.client],
    ] as const) {
      one.on("error", () => {})
      one.on("close", () => {
        pairs.delete(pair)
        other.destroy()
      })
    }
    const line = { number: numbers++, listens: false, statement: "" }
    const prepared = new Map<string, string>()
    const send = { "to server": pipe(pair, pair.server), "to client": pipe(pair, pair.client) }
    const judge = (message: Message, direction: Direction) => {
      const fate = rule(message, direction, line)
      if (fate === "cut") {
        counts.cut += 1
        reset(pair)
        return false
      }
      if (fate === "drop") counts.dropped += 1
      else send[direction](message.bytes, direction, fate === "pass" ? 0 : fate)
      return true
    }
    const fromClient = createMessageReader({ startsUntyped: true })
    pair.client.on("data", (chunk) => {
      for (const message of fromClient(chunk)) {
        line.statement = statementIn(message, prepared) ?? line.statement
        if (/^listen/i.test(line.statement)) line.listens = true
        if (!judge(message, "to server")) return
      }
    })
    const fromServer = createMessageReader({ startsUntyped: false })
    pair.server.on("data", (chunk) => {
      for (const message of fromServer(chunk)) if (!judge(message, "to client")) return
    })
  }

  /** Keeps the order of what goes one way, whatever the delays. */
  function pipe(pair: Pair, to: Socket) {
    let tail: Promise<unknown> | undefined
    const write = (bytes: Buffer, direction: Direction) => {
      if (holding.includes(direction)) {
        counts.held += 1
        pair.held.push(() => to.write(bytes))
      } else {
        counts.passed += 1
        to.write(bytes)
      }
    }
    return (bytes: Buffer, direction: Direction, delayMs: number) => {
      if (delayMs === 0 && tail === undefined) return write(bytes, direction)
      counts.delayed += 1
      const mine = Promise.resolve(tail)
        .then(() => moment(delayMs))
        .then(() => {
          write(bytes, direction)
          if (tail === mine) tail = undefined
        })
      tail = mine
    }
  }

  const listening = createServer({ noDelay: true }, connect)
  listening.listen(0, "127.0.0.1")
  await once(listening, "listening")
  const { port } = listening.address() as AddressInfo
  const resetAll = () => {
    for (const pair of pairs) reset(pair)
  }
  return {
    url: through(serverUrl, port),
    obey: (wanted) => {
      rule = wanted
    },
    hold: (...directions) => {
      holding = directions
    },
    pass: () => {
      rule = () => "pass"
      refusing = false
      holding = []
      for (const { held } of pairs) for (const deliver of held.splice(0)) deliver()
    },
    reset: resetAll,
    refuse: () => {
      refusing = true
      resetAll()
    },
    lines: () => numbers,
    counts,
    close: async () => {
      resetAll()
      listening.close()
      await once(listening, "close")
    },
  }
}

/** The statement that a message of a client is about, if it is about one. */
function statementIn(message: Message, prepared: Map<string, string>): string | undefined {
  if (message.type !== "Q" && message.type !== "P" && message.type !== "B") return undefined
  const first = textOf(message)
  if (message.type === "Q") return first
  const second = textOf(message, Buffer.byteLength(first) + 1)
  // A bind names its portal first, then the statement.
  if (message.type === "B") return prepared.get(second)
  prepared.set(first, second)
  return second
}
