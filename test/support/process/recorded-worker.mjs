// A Carillon process that writes down everything it does, for tests that break things under it and check the history.
import { createInterface } from "node:readline"
import { openRecorder } from "../history/record.mjs"
import { recordEvents, recordHandler } from "../history/record-events.mjs"

const {
  folder,
  crashAt,
  clockOffMs = 0,
  slots = 10,
  pools = { default: slots },
  ...options
} = JSON.parse(process.argv[2])

// Before any import that could read the clock: a machine whose clock is wrong.
const trueNow = Date.now
Date.now = () => trueNow() + clockOffMs

const { createCarillonOn } = await import("../../../dist/api/carillon.js")
const { defineJob } = await import("../../../dist/index.js")
const { createSystemHost } = await import("../../../dist/runtime/system.js")

const { record } = openRecorder(folder)
if (clockOffMs !== 0) record("clock_off", { ms: clockOffMs })
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const system = createSystemHost()
const host = {
  ...system,
  // Every id is written down before it can be used: one of them will be the run's.
  newId: () => {
    const run = system.newId()
    record("enq_invoke", { run, attempts: 5 })
    return run
  },
  crashPoint: (name) => {
    if (name === crashAt) process.kill(process.pid, "SIGKILL")
  },
}

const retry = { attempts: 5, delay: 10 }
const rest = (ms, signal) => (ms > 0 ? system.sleep(ms, signal) : undefined)

const jobs = {
  work: defineJob({
    name: "work",
    retry,
    run: recordHandler(record, async ({ ms = 0, failUntil = 0 }, ctx) => {
      await rest(ms, ctx.signal)
      if (ctx.attempt < failUntil) throw new Error(`not before attempt ${failUntil}`)
      return process.pid
    }),
  }),
  /** Goes on whatever its signal says. */
  stubborn: defineJob({
    name: "stubborn",
    retry,
    run: recordHandler(record, async ({ ms = 0 }) => {
      await rest(ms)
      return process.pid
    }),
  }),
  poison: defineJob({
    name: "poison",
    retry: { attempts: 3, delay: 0 },
    run: recordHandler(record, async () => {
      say({ type: "poisoned" })
      await rest(50)
      process.kill(process.pid, "SIGKILL")
      return rest(60_000)
    }),
  }),
  single: defineJob({
    name: "single",
    retry,
    concurrency: 1,
    run: recordHandler(record, async ({ ms = 0 }, ctx) => {
      await rest(ms, ctx.signal)
      return process.pid
    }),
  }),
}

const carillon = createCarillonOn(host, {
  ...options,
  jobs: Object.values(jobs),
  pools,
  logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
})
carillon.subscribe(recordEvents(record))
const counts = { started: 0, finished: 0 }
carillon.subscribe((event) => {
  if (event.type === "attempt.started") counts.started += 1
  if (event.type === "attempt.finished") counts.finished += 1
  // Thousands of lines go to the recorder; the test gets the rest, and the progress.
  if (!event.type.startsWith("attempt.") && event.type !== "run.enqueued") {
    say(event.type === "loop.failed" ? { ...event, error: String(event.error) } : event)
  } else if (event.type !== "run.enqueued" && (counts.started + counts.finished) % 20 === 1) {
    say({ type: "counts", ...counts })
  }
  if (event.type === "attempt.fenced") say(event)
})

/** Writes down the answer, or that there was none. */
async function enqueue(job, input, settings) {
  try {
    const { id, created } = await carillon.enqueue(jobs[job], input, settings)
    record("enq_ok", { run: id, created })
    return id
  } catch (error) {
    say({ type: "enqueue.failed", code: error.code })
    return undefined
  }
}

const commands = {
  start: () => carillon.start(),
  stop: ({ grace = "5s" }) => carillon.stop({ grace }),
  /** So many runs, a few at once, and the ids of the acknowledged ones. */
  produce: async ({ job = "work", count, input = {}, settings = {} }) => {
    const ids = []
    let left = count
    const producer = async () => {
      while (left > 0) {
        left -= 1
        const id = await enqueue(job, typeof input === "object" ? input : {}, settings)
        if (id) ids.push(id)
      }
    }
    await Promise.all(Array.from({ length: 8 }, producer))
    return ids
  },
  produceMany: async ({ job = "work", count, input = {} }) => {
    const handles = await carillon.enqueueMany(
      jobs[job],
      Array.from({ length: count }, () => ({ input })),
    )
    for (const { id, created } of handles) record("enq_ok", { run: id, created })
    return handles.map(({ id }) => id)
  },
  cancel: async ({ run }) => {
    record("cancel_invoke", { run })
    const cancelled = await carillon.runs.cancel(run, { actor: "test", reason: "chaos" })
    if (cancelled.changed) record("cancel_ok", { run })
    return cancelled
  },
  /** Waits for the ends of all of them, and returns their states. */
  ends: async ({ runs }) => {
    return (await carillon.runs.wait(runs)).map(({ state }) => state)
  },
  counts: async () => counts,
}

for await (const line of createInterface({ input: process.stdin })) {
  const { call, seq, ...args } = JSON.parse(line)
  commands[call](args).then(
    (value) => say({ type: "answer", seq, value }),
    (error) => say({ type: "answer", seq, error: { code: error.code, message: error.message } }),
  )
}
