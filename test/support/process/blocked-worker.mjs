// A real Carillon process whose event loop can be blocked and whose heartbeat thread can be killed. Prints events as
// JSON lines, takes orders on stdin.
import { appendFileSync, existsSync } from "node:fs"
import { createInterface } from "node:readline"
import { createCarillonOn } from "../../../dist/api/carillon.js"
import { defineJob } from "../../../dist/index.js"
import { createSystemHost } from "../../../dist/runtime/system.js"

const { effects, timeout, blockUntil, threads = "real", ...options } = JSON.parse(process.argv[2])

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

const system = createSystemHost()
const started = []
const host = {
  ...system,
  startThread: (thread) => {
    const module = threads === "missing" ? new URL("./not-there.js", thread.module) : thread.module
    const onEnd = (cause) => {
      say({ type: "thread.ended" })
      thread.onEnd(cause)
    }
    started.push(system.startThread({ ...thread, module, onEnd }))
    say({ type: "thread.started", count: started.length })
    return started.at(-1)
  },
}

/** Blocks the event loop for so long. */
function blockFor(ms) {
  for (const untilMs = host.monotonicMs() + ms; host.monotonicMs() < untilMs; );
}

/** The same until this file exists, without using up a processor. */
function blockUntilThereIs(file) {
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  while (!existsSync(file)) Atomics.wait(nothing, 0, 0, 50)
}

const blocking = defineJob({
  name: "blocking",
  retry: { attempts: 10, base: 0 },
  ...(timeout && { timeout }),
  run: async ({ restMs = 400, forMs = 0 }, ctx) => {
    appendFileSync(effects, `${ctx.runId} ${ctx.attempt} ${process.pid}\n`)
    if (restMs > 0) await host.sleep(restMs)
    blockFor(forMs)
    if (blockUntil) blockUntilThereIs(blockUntil)
    return { by: process.pid }
  },
})

const carillon = createCarillonOn(host, { ...options, jobs: [blocking] })
carillon.subscribe((event) =>
  say(event.type === "loop.failed" ? { ...event, error: String(event.error) } : event),
)

const commands = {
  start: () => carillon.start(),
  stop: () => carillon.stop({ grace: "5s" }),
  enqueue: async ({ input }) => (await carillon.enqueue(blocking, input)).id,
  result: async ({ run }) => (await carillon.runs.wait(run)).result,
  attempts: ({ run }) => carillon.runs.attempts(run),
  killThread: async () => started.at(-1).kill(),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { call, seq, ...args } = JSON.parse(line)
  commands[call](args).then(
    (value) => say({ type: "answer", seq, value }),
    (error) => say({ type: "answer", seq, error: { code: error.code, message: error.message } }),
  )
}
