/**
 * A network between a client and a PostgreSQL server, on loopback, that fails on demand.
 *
 * It splits the streams into the messages of the protocol, so that it can fail between two of them.
 */
import { once } from "node:events"
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net"
import { createMessageReader, type Message, readPid, textOf, withPid } from "./wire-messages.ts"

export interface FaultyNetwork {
  /** The server's URL, through this proxy. */
  readonly url: string
  /** Lets everything through again; new connections too. */
  readonly pass: () => void
  /** Drops all data in these directions. Connections stay open. */
  readonly silence: (...directions: Direction[]) => void
  /** Resets every connection. */
  readonly cut: () => void
  /** Resets every connection, and each new one at once. */
  readonly refuse: () => void
  /** Resets the one connection on which the server next reports this, instead of passing the message on. */
  readonly cutInsteadOf: (commandTag: string) => void
  /** Resolves when that has happened. */
  readonly hasCut: () => Promise<void>
  /** Gives clients of new connections another process id than the server does, as a pooler would. */
  readonly disguiseServer: () => void
  /** How many connections are open. */
  readonly connections: () => number
  /** The text of every query and the name of every prepared statement that clients have sent. */
  readonly sent: readonly Sent[]
  /** How often clients have asked for the columns of an answer. */
  readonly descriptions: () => number
  readonly close: () => Promise<void>
}

export type Direction = "to server" | "to client"

export interface Sent {
  /** The name under which a statement was prepared; empty when there is none. */
  readonly name: string
  readonly text: string
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export async function openFaultyNetwork(serverUrl: string): Promise<FaultyNetwork> {
  const pairs = new Set<Pair>()
  const sent: Sent[] = []
  let descriptions = 0
  let silent: readonly Direction[] = []
  let refusing = false
  let disguised = false
  let fatalTag: string | undefined
  const cutWaiters: (() => void)[] = []

  const reset = ({ client, server }: Pair) => {
    client.resetAndDestroy()
    server.destroy()
  }
  const cut = () => {
    for (const pair of pairs) reset(pair)
  }

  const listening = createServer({ noDelay: true }, (client) => {
    if (refusing) {
      client.resetAndDestroy()
      return
    }
    const pair = { client, server: createConnection(socketOf(serverUrl)) }
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
    const fromClient = createMessageReader({ startsUntyped: true })
    pair.client.on("data", (chunk) => {
      for (const message of fromClient(chunk)) {
        sent.push(...sentIn(message))
        if (message.type === "D") descriptions += 1
        if (!silent.includes("to server")) pair.server.write(message.bytes)
      }
    })
    const fromServer = createMessageReader({ startsUntyped: false })
    pair.server.on("data", (chunk) => {
      for (const message of fromServer(chunk)) {
        if (message.type === "C" && textOf(message) === fatalTag) {
          fatalTag = undefined
          for (const tell of cutWaiters.splice(0)) tell()
          reset(pair)
          return
        }
        const disguise = disguised && message.type === "K"
        const bytes = disguise ? withPid(message, readPid(message) + 1) : message.bytes
        if (!silent.includes("to client")) pair.client.write(bytes)
      }
    })
  })
  listening.listen(0, "127.0.0.1")
  await once(listening, "listening")
  const { port } = listening.address() as AddressInfo

  return {
    url: through(serverUrl, port),
    pass: () => {
      silent = []
      refusing = false
    },
    silence: (...directions) => {
      silent = directions
    },
    cut,
    refuse: () => {
      refusing = true
      cut()
    },
    cutInsteadOf: (commandTag) => {
      fatalTag = commandTag
    },
    hasCut: () =>
      new Promise((resolve) => {
        if (fatalTag === undefined) resolve()
        else cutWaiters.push(resolve)
      }),
    disguiseServer: () => {
      disguised = true
    },
    connections: () => pairs.size,
    sent,
    descriptions: () => descriptions,
    close: async () => {
      cut()
      listening.close()
      await once(listening, "close")
    },
  }
}

function sentIn(message: Message): Sent[] {
  if (message.type === "Q") return [{ name: "", text: textOf(message) }]
  if (message.type !== "P") return []
  const name = textOf(message)
  return [{ name, text: textOf(message, Buffer.byteLength(name) + 1) }]
}

/** The path of the Unix socket behind a URL of the embedded server. */
export function socketOf(url: string): string {
  const { searchParams, port } = new URL(url)
  return `${searchParams.get("host")}/.s.PGSQL.${port}`
}

/** The same server, by a port of this machine. */
export function through(serverUrl: string, port: number): string {
  const url = new URL(serverUrl)
  url.searchParams.delete("host")
  url.hostname = "127.0.0.1"
  url.port = String(port)
  return url.href
}
