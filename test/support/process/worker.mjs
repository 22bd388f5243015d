// A real Carillon process for tests that kill it. Prints events as JSON lines, takes orders on stdin.
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { createCarillonOn } from "../../../dist/api/carillon.js"
import { defineJob } from "../../../dist/index.js"
import { createSystemHost } from "../../../dist/runtime/system.js"

const { crashAt, effects, slowMs = 0, ...options } = JSON.parse(process.argv[2])

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

const host = {
  ...createSystemHost(),
  crashPoint: (name) => {
    if (name === crashAt) process.kill(process.pid, "SIGKILL")
  },
}

/** Leaves a trace outside the database, so that a test can count executions. */
const effect = defineJob({
  name: "effect",
  retry: { attempts: 10, base: 0 },
  run: async (input, ctx) => {
    appendFileSync(effects, `${ctx.runId} ${ctx.attempt} ${process.pid}\n`)
    await host.sleep(slowMs, ctx.signal)
    return { by: process.pid, input }
  },
})

const carillon = createCarillonOn(host, { ...options, jobs: [effect] })
carillon.subscribe((event) =>
  say(event.type === "loop.failed" ? { ...event, error: String(event.error) } : event),
)

const commands = {
  start: () => carillon.start(),
  stop: () => carillon.stop({ grace: "5s" }),
  enqueue: async ({ input }) => (await carillon.enqueue(effect, input)).id,
  result: async ({ run }) => (await carillon.runs.wait(run)).result,
  attempts: ({ run }) => carillon.runs.attempts(run),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { call, seq, ...args } = JSON.parse(line)
  commands[call](args).then(
    (value) => say({ type: "answer", seq, value }),
    (error) => say({ type: "answer", seq, error: { code: error.code, message: error.message } }),
  )
}
