/**
 * A process as the public harness (github.com/hardbyte/postgresql-job-queue-benchmarking) starts it: what to do comes
 * from the environment, and what happens goes to stdout, one line of JSON per metric. Logs go to stderr. It produces
 * and executes until it gets SIGTERM.
 *
 * `SYSTEM` chooses the contender; Carillon unless it says something else.
 */
import { appendFileSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { contenderOf } from "../queue/contenders.mjs"
import { connect } from "../tools/driver.mjs"
import { versionOf } from "../tools/machine.mjs"
import { peerVersion } from "../tools/peers.mjs"
import { createRollingHistogram } from "./histogram.mjs"

const number = (name, otherwise) => Number(process.env[name] ?? otherwise)
const SYSTEM = process.env.SYSTEM ?? "carillon"
const DATABASE_URL = process.env.DATABASE_URL
const INSTANCE = number("BENCH_INSTANCE_ID", 0)
const SAMPLE_S = number("SAMPLE_EVERY_S", 5)
const MODE = process.env.PRODUCER_MODE ?? "fixed"
const RATE = number("PRODUCER_RATE", 800)
const BATCH_MOST = number("PRODUCER_BATCH_MAX", 128)
const BATCH_MS = number("PRODUCER_BATCH_MS", 10)
const TARGET_DEPTH = number("TARGET_DEPTH", 1_000)
const WORKERS = number("WORKER_COUNT", 32)
const WORK_MS = number("JOB_WORK_MS", 1)
const PADDING = "x".repeat(Math.max(0, number("JOB_PAYLOAD_BYTES", 256) - 96))
const WINDOW_S = 30
const DEPTH_MS = 250
/** After an error: the server may come back. */
const PAUSE_MS = 200
const END_MS = 4_500
/** A rate over less than this says nothing. */
const LEAST_SAMPLE_MS = 200
/** A process that is started again numbers its jobs from the beginning. */
const BY = `${INSTANCE}/${process.pid}`

const contender = await contenderOf(SYSTEM)
if (contender.harness === undefined)
  throw new Error(`${SYSTEM} cannot be run by the harness: it is not on PostgreSQL`)
const session = await contender.open(DATABASE_URL, contender.harness(WORKERS))
const latencies = {
  producer: createRollingHistogram(WINDOW_S / SAMPLE_S),
  claim: createRollingHistogram(WINDOW_S / SAMPLE_S),
  end_to_end: createRollingHistogram(WINDOW_S / SAMPLE_S),
}
let enqueued = 0
let completed = 0
let depth = 0
let targetRate = RATE
let isEnding = false
/** At the last sample. */
let before = { enqueued, completed, atMs: Date.now() }

process.once("SIGTERM", end)
process.once("SIGINT", end)

await session.start(async ({ enqueuedMs }) => {
  latencies.claim.add(nowMs() - enqueuedMs)
  if (WORK_MS > 0) await sleep(WORK_MS)
  latencies.end_to_end.add(nowMs() - enqueuedMs)
  completed += 1
})
emit({
  kind: "descriptor",
  system: SYSTEM,
  event_tables: await tablesOf(contender.tables),
  extensions: [],
  version: contender.package ? peerVersion(contender.package) : versionOf("../../package.json"),
  schema_version: "",
  db_name: DATABASE_URL.split("/").pop().split("?")[0],
  started_at: new Date().toISOString(),
})
await Promise.all([produce(), watchDepth(), sample()])

/** Those that adapter.json names, for the harness compares, and of tables in parts the parts, as they are now. */
async function tablesOf(names) {
  const client = await connect(DATABASE_URL)
  const { rows } = await client.query(
    `select relid::regclass::text as name
    from unnest($1::text[]) as name cross join lateral pg_partition_tree(name::regclass) where isleaf`,
    [names],
  )
  await client.end()
  return [...new Set([...names, ...rows.map(({ name }) => name)])]
}

/** Load is credited by the clock, never by rounds of a loop: a slow round must not lower what is offered. */
async function produce() {
  let seq = 0
  let credit = 0
  let creditedMs = performance.now()
  while (!isEnding) {
    targetRate = controlledRate()
    const now = performance.now()
    // No more than a second of it is made up for, as after an outage.
    credit = Math.min(credit + (targetRate * (now - creditedMs)) / 1_000, targetRate)
    creditedMs = now
    const wanted = MODE === "depth-target" && targetRate > 0 ? TARGET_DEPTH - depth : Math.floor(credit)
    const count = Math.max(0, Math.min(BATCH_MOST, wanted))
    if (count === 0) {
      await sleep(BATCH_MS)
      continue
    }
    const inputs = Array.from({ length: count }, () => {
      seq += 1
      return { n: seq, by: BY, enqueuedMs: nowMs(), padding: PADDING }
    })
    try {
      const startMs = performance.now()
      await session.enqueueMany(inputs)
      const eachMs = (performance.now() - startMs) / count
      for (let number = 0; number < count; number += 1) latencies.producer.add(eachMs)
      acknowledge(inputs)
      enqueued += count
      if (MODE === "depth-target") depth += count
      credit -= count
    } catch (error) {
      complain("enqueue", error)
      await sleep(PAUSE_MS)
    }
  }
}

/** Not a line of the protocol: what was acknowledged, so that the runner can look for all of it afterwards. */
function acknowledge(inputs) {
  const file = process.env.ACKNOWLEDGED_FILE
  if (file) appendFileSync(file, `${BY} ${inputs[0].n} ${inputs.at(-1).n}\n`)
}

/** All processes share one depth: the first tells it, and a process that fills up to a depth has to know it. */
async function watchDepth() {
  if (INSTANCE !== 0 && MODE !== "depth-target") return
  let client
  while (!isEnding) {
    try {
      client ??= await connect(DATABASE_URL)
      depth = (await client.query(`select count(*)::int as depth ${contender.depth}`)).rows[0].depth
      await sleep(DEPTH_MS)
    } catch (error) {
      complain("depth", error)
      client = undefined
      await sleep(PAUSE_MS)
    }
  }
}

/** On full multiples of the interval by the wall clock, so that samples of several systems line up. */
async function sample() {
  const intervalMs = SAMPLE_S * 1_000
  let atMs = Math.ceil(Date.now() / intervalMs + 0.5) * intervalMs
  while (!isEnding) {
    // Timers come early now and then.
    while (Date.now() < atMs) await sleep(atMs - Date.now())
    if (isEnding) return
    tellSample(atMs)
    atMs = Math.max(atMs + intervalMs, Math.floor(Date.now() / intervalMs) * intervalMs)
  }
}

function tellSample(atMs) {
  const t = new Date(atMs).toISOString()
  const seconds = (Date.now() - before.atMs) / 1_000
  const metrics = Object.entries(latencies).flatMap(([name, histogram]) =>
    [50, 95, 99].map((percent) => [`${name}_p${percent}_ms`, histogram.percentile(percent), WINDOW_S]),
  )
  metrics.push(["enqueue_rate", (enqueued - before.enqueued) / seconds, SAMPLE_S])
  metrics.push(["completion_rate", (completed - before.completed) / seconds, SAMPLE_S])
  if (INSTANCE === 0) {
    metrics.push(["queue_depth", depth, 0], ["producer_target_rate", targetRate, 0])
  }
  const about = { t, system: SYSTEM, kind: "adapter", subject_kind: "adapter", subject: "" }
  for (const [metric, value, window_s] of metrics) emit({ ...about, metric, value, window_s })
  for (const histogram of Object.values(latencies)) histogram.turn()
  before = { enqueued, completed, atMs: Date.now() }
}

/** The harness changes the rate during a run by writing it into a file. */
function controlledRate() {
  const file = process.env.PRODUCER_RATE_CONTROL_FILE
  if (!file) return RATE
  try {
    const rate = Number.parseFloat(readFileSync(file, "utf8"))
    return Number.isFinite(rate) ? rate : RATE
  } catch {
    return RATE
  }
}

async function end() {
  isEnding = true
  setTimeout(() => process.exit(0), END_MS).unref()
  // What has happened since the last one.
  if (Date.now() - before.atMs >= LEAST_SAMPLE_MS) tellSample(Date.now())
  await session.close().catch((error) => complain("close", error))
  process.exit(0)
}

function nowMs() {
  return performance.timeOrigin + performance.now()
}

function emit(record) {
  process.stdout.write(`${JSON.stringify({ ...record, instance_id: INSTANCE, pid: process.pid })}\n`)
}

function complain(what, error) {
  console.error(`${SYSTEM}, ${what}: ${error.message}`)
}
