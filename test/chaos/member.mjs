// One process of a row: a worker, a producer, or both. It records everything it does, and takes orders.
import { Socket } from "node:net"
import { createInterface } from "node:readline"
import pg from "pg"
import { openRecorder } from "../support/history/record.mjs"
import { recordEvents } from "../support/history/record-events.mjs"

const {
  folder,
  name,
  crashAt,
  clockOffMs = 0,
  extra,
  load,
  slots = 8,
  ...options
} = JSON.parse(process.argv[2])

// Before anything is loaded that could read it: a machine whose clock is wrong.
const trueNow = Date.now
Date.now = () => trueNow() + clockOffMs

const { createCarillonOn } = await import("../../dist/api/carillon.js")
const { createSystemHost } = await import("../../dist/runtime/system.js")
const { createJobs, factsOf } = await import("./jobs.mjs")
const { createLoad } = await import("./load.mjs")
const { createAsking } = await import("./recorded-enqueue.mjs")
const { createReader } = await import("./reader.mjs")
const { createSteering } = await import("./steering.mjs")

let dials = 0
const { connect } = Socket.prototype
Socket.prototype.connect = function (...args) {
  dials += 1
  return connect.apply(this, args)
}

const { record } = openRecorder(folder, name)
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const asking = createAsking({ record, say })
let isStopped = false
const INSERTS = /^runs\/(insert|hand-off)/
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (...args) {
  const [{ name: statement, values }] = args
  if (isStopped && statement === "runs/claim") record("claim_sent", {})
  if (INSERTS.test(statement)) asking.inserting(values)
  return query.apply(this, args)
}
const system = createSystemHost()

let crossings = 0
const host = {
  ...system,
  newId: () => asking.named(system.newId()),
  crashPoint: (point) => {
    if (point !== crashAt?.point) return
    crossings += 1
    if (crossings !== crashAt.time) return
    process.kill(process.pid, "SIGKILL")
  },
}

if (clockOffMs !== 0) record("clock_off", { ms: clockOffMs })
const tools = { name, record, say, rest: system.sleep, random: Math.random }
const more = extra ? await import(extra) : {}
const jobs = { ...createJobs(tools), ...more.createJobs?.(tools) }
const quiet = () => {}
const carillon = createCarillonOn(host, {
  pools: { default: slots },
  ...options,
  jobs: Object.values(jobs),
  logger: { debug: quiet, info: quiet, warn: quiet, error: (line) => say({ type: "logged", line }) },
})
carillon.subscribe(recordEvents(record))

const counts = {}
carillon.subscribe((event) => {
  counts[event.type] = (counts[event.type] ?? 0) + 1
  if (event.type.startsWith("attempt.") || event.type.startsWith("run.")) return
  const error = event.error === undefined ? {} : { error: `${event.error?.code}: ${event.error?.message}` }
  say({ ...event, ...error })
})

const by = { actor: "chaos", reason: "a test" }
const reader = createReader({ carillon, record })
const steering = createSteering({ carillon, jobs, record, by })
const working = createLoad({
  carillon,
  steering,
  reader,
  jobs,
  record,
  say,
  asking,
  url: options.database,
  schema: options.schema,
  load,
})

async function stop(graceMs) {
  isStopped = true
  record("stop_invoke", { graceMs })
  await Promise.all([working.quiet(), carillon.stop({ grace: graceMs })])
  record("stop_ok", {})
}

// As a program does that is stopped: in order, and at once at the second signal.
process.on("SIGTERM", () => {
  const graceMs = isStopped ? 0 : 1_500
  stop(graceMs).then(
    () => process.exit(0),
    (error) => {
      say({ type: "surprise", text: `the stop failed: ${error.stack}` })
      process.exit(1)
    },
  )
})

const commands = {
  ping: async () => counts,
  /** How many connections it has tried to open. */
  dials: async () => dials,
  /** Before the first call of a process that does not work. */
  open: () => carillon.pauses.list(),
  start: () => carillon.start(),
  stop: async ({ graceMs = 5_000 }) => {
    await stop(graceMs)
    await working.close()
  },
  load: async (how) => working.begin(how),
  quiet: () => working.quiet(),
  enqueue: ({ job = "work", input = {}, settings = {} }) =>
    asking
      .ask(factsOf(job), () => carillon.enqueue(jobs[job], input, settings))
      .then((handles) => handles?.map(({ id }) => id)[0]),
  enqueueMany: ({ job = "work", items }) =>
    asking
      .ask(factsOf(job), () => carillon.enqueueMany(jobs[job], items))
      .then((handles) => handles?.map(({ id }) => id)),
  /** A new run, from here to its result. */
  round: async () => {
    const handles = await asking.ask(factsOf("work"), () => carillon.enqueue(jobs.work, {}))
    if (!handles) return false
    await handles[0].result()
    return true
  },
  cancel: ({ run, withinMs }) => working.cancel(run, withinMs),
  expedite: ({ run, ...rest }) => carillon.runs.expedite(run, { ...by, ...rest }),
  replay: ({ run }) => carillon.deadLetters.replay(run, by),
  discard: ({ run }) => carillon.deadLetters.discard(run, by),
  pause: ({ noun, name }) => carillon[noun].pause(name, by),
  resume: ({ noun, name }) => carillon[noun].resume(name, by),
  putSchedule: steering.put,
  pauseSchedule: steering.pause,
  resumeSchedule: steering.resume,
  /** Of so many minutes up to now. */
  backfill: ({ schedule, minutes }) => {
    const [from, to] = [new Date(trueNow() - minutes * 60_000), new Date(trueNow() - 5_000)]
    return carillon.schedules.backfill(schedule, { ...by, from, to, maxParallel: 50 })
  },
  history: ({ final = false, ...how }) => (final ? reader.readToTheEnd() : reader.read(how)),
  ...more.createCommands?.({ ...tools, carillon, jobs, asking, by }),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { call, seq, ...args } = JSON.parse(line)
  Promise.resolve(commands[call](args)).then(
    (value) => say({ type: "answer", seq, value }),
    (error) => say({ type: "answer", seq, error: { code: error.code, message: error.message } }),
  )
}
// The process that steered it has died.
if (!isStopped) process.kill(process.pid, "SIGKILL")
