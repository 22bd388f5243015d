import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { createSystemHost } from "./system.ts"

describe("the system host", () => {
  const host = createSystemHost()

  it("ends a rest early when its signal aborts", async () => {
    const abort = new AbortController()
    const rest = host.sleep(3_600_000, abort.signal)
    abort.abort()
    await rest
  })

  it("does not fire a timer of 40 days at once", async () => {
    let fired = false
    const timer = host.after(40 * 86_400_000, () => {
      fired = true
    })
    await host.sleep(20)
    timer.cancel()
    expect(fired).toBe(false)
  })

  it("draws bigints that fit PostgreSQL", () => {
    for (let i = 0; i < 1_000; i += 1) {
      const bits = host.randomBits()
      expect(BigInt.asIntN(64, bits)).toBe(bits)
    }
  })
})

describe("a thread of the system host", () => {
  const host = createSystemHost()
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "carillon-thread-"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Starts a thread on this program, and hears what it says until it ends. */
  async function start(program: string, data: unknown = undefined) {
    const path = join(folder, `${host.newId()}.mjs`)
    await writeFile(path, `import { parentPort, workerData } from "node:worker_threads"\n${program}`)
    const heard: unknown[] = []
    let end = (_cause: unknown) => {}
    const ended = new Promise<unknown>((resolve) => {
      end = resolve
    })
    const onMessage = (message: unknown) => heard.push(message)
    const module = pathToFileURL(path)
    const thread = host.startThread({ name: "test", module, data, onMessage, onEnd: (cause) => end(cause) })
    return { thread, heard, ended }
  }

  it("gets its data, hears and is heard, and shares memory and the clock", async () => {
    const memory = new SharedArrayBuffer(4)
    const beforeMs = host.monotonicMs()
    const { thread, heard, ended } = await start(
      `new Int32Array(workerData.memory)[0] = 7
       parentPort.once("message", (message) => {
         const [seconds, nanoseconds] = process.hrtime()
         parentPort.postMessage([message, seconds * 1000 + nanoseconds / 1000000])
       })`,
      { memory },
    )
    thread?.send("hello")
    expect(await ended).toEqual(new Error("exit code 0"))
    const [[message, atMs] = []] = heard as [string, number][]
    expect(message).toBe("hello")
    expect(atMs).toBeGreaterThan(beforeMs)
    expect(atMs).toBeLessThan(host.monotonicMs())
    expect(new Int32Array(memory)[0]).toBe(7)
  })

  it("reports what ended the thread, and ends no other thread or process", async () => {
    const { ended } = await start(`throw new RangeError("too much")`)
    expect(await ended).toEqual(new RangeError("too much"))
    const missing = await start(`import "./not-there.mjs"`)
    expect(await missing.ended).toMatchObject({ code: "ERR_MODULE_NOT_FOUND" })
  })

  it("ends when it is killed", async () => {
    const { thread, ended } = await start(`for (;;);`)
    thread?.kill()
    expect(await ended).toBeInstanceOf(Error)
  })

  it("inherits the environment, but not what was meant for the program's own start", async () => {
    vi.stubEnv("NODE_OPTIONS", "--import ./preloaded.mjs")
    vi.stubEnv("PGPASSWORD", "secret")
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const { heard, ended } = await start(
      `const { NODE_OPTIONS, PGPASSWORD } = process.env
       parentPort.postMessage([NODE_OPTIONS, PGPASSWORD, process.execArgv])`,
    )
    await ended
    expect(heard).toEqual([[undefined, "secret", []]])
  })

  it("is not to be had for sources that have not been compiled", () => {
    const module = new URL(import.meta.url)
    const options = { name: "test", module, data: undefined, onMessage: () => {}, onEnd: () => {} }
    expect(host.startThread(options)).toBe(undefined)
  })
})
