/** The server of `node:http`: what a client may hold, and how it ends. */
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import {
  type FetchHandler,
  listen,
  type NodeServer,
  type ServerLimits,
} from "../../src/cli/serving/node-server.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { createGate } from "../support/gate-opened-by-test.ts"

const host = createSystemHost()
const QUICK = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 }
const servers: NodeServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close(0)
})

async function open(fetch: FetchHandler, limits: Partial<ServerLimits> = {}): Promise<NodeServer> {
  const server = await listen(host, { hostname: "127.0.0.1", port: 0, fetch, limits })
  servers.push(server)
  return server
}

/** A connection by hand, with everything that it has received. */
async function dial({ port }: NodeServer): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect(port, "127.0.0.1")
  let text = ""
  socket.setEncoding("utf8").on("data", (chunk) => {
    text += chunk
  })
  socket.on("error", () => {})
  await once(socket, "connect")
  return { socket, received: () => text }
}

const hello: FetchHandler = async (request) => new Response(await request.text())

describe("S29: a client", () => {
  it("that never ends its headers is cut off", async () => {
    const { socket, received } = await dial(await open(hello, QUICK))
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow:")
    await once(socket, "close")
    expect(received()).toMatch(/^HTTP\/1\.1 408 /)
  })

  it("that never ends its body is cut off", async () => {
    const { socket, received } = await dial(await open(hello, QUICK))
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nslow")
    await once(socket, "close")
    expect(received()).not.toContain("200")
  })

  it("that takes nothing of its answer is cut off", async () => {
    const endless = () =>
      new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) }))
    const { socket } = await dial(await open(endless, { silence: 100 }))
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await once(socket, "close")
  })

  it("that sends headers without end is refused before they are kept", async () => {
    const { socket, received } = await dial(await open(hello))
    socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`)
    await once(socket, "close")
    expect(received()).toMatch(/^HTTP\/1\.1 431 /)
  })
})

describe("an answer", () => {
  it("says nothing about an error of the handler", async () => {
    const { port } = await open(() => Promise.reject(new Error("the password is s3cret")))
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect(response.status).toBe(500)
    expect(await response.text()).toBe("")
  })

  it("knows the address of the client", async () => {
    const { port } = await open((_, { address }) => new Response(address ?? "unknown"))
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("127.0.0.1")
  })
})

describe("a close", () => {
  it("finishes requests, ends their connections, and takes no new ones", async () => {
    const gate = createGate()
    const server = await open(async () => {
      await gate.opened
      return new Response("done")
    })
    const idle = await dial(server)
    const { socket, received } = await dial(server)
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await expect.poll(() => server.requests()).toBe(1)
    const closed = server.close(60_000)
    await once(idle.socket, "close")
    await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow()
    gate.open()
    await once(socket, "close")
    expect(received()).toContain("Connection: close")
    expect(received()).toContain("done")
    await closed
  })

  it("cuts off what has not finished in time", async () => {
    const server = await open(() => new Promise<Response>(() => {}))
    const { socket } = await dial(server)
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await expect.poll(() => server.requests()).toBe(1)
    await server.close(50)
    if (!socket.closed) await once(socket, "close")
  })
})

describe("an address", () => {
  it("that is taken is named, with what to do", async () => {
    const { port } = await open(hello)
    await expect(listen(host, { hostname: "127.0.0.1", port, fetch: hello })).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is taken, perhaps by another \`carillon dev\`. Give another one, as in --port`,
    )
  })
})
