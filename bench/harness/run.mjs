/**
 * Part "harness": the scenarios of the public cross-system harness, run here without Docker or Python, by the same
 * adapter that it would start. `--scenario NAME` runs one of them, `--only NAME,NAME` other systems than Carillon.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { contenderOf } from "../queue/contenders.mjs"
import { median, round, table, thousands } from "../tools/measure.mjs"
import { nodeVersion } from "../tools/peers.mjs"
import { startServer } from "../tools/server.mjs"
import { MISSED } from "../tools/verdict.mjs"
import { createReplicas } from "./replicas.mjs"
import { ENVIRONMENT, SCENARIOS, SERVER_SETTINGS, shortened } from "./scenarios.mjs"
import { STRESS } from "./stress.mjs"

/**
 * How long the rest may take when nothing is enqueued any more: what a killed process held comes back after its lease.
 */
const DRAIN_MS = 180_000
const ADAPTER = JSON.parse(readFileSync(new URL("adapter.json", import.meta.url), "utf8"))

export async function run({ quick = false, scenario: asked, only = ["carillon"] }) {
  if (asked !== undefined && !Object.hasOwn(SCENARIOS, asked)) {
    throw new Error(`There is no scenario "${asked}". Scenarios: ${Object.keys(SCENARIOS).join(", ")}.`)
  }
  const names = asked === undefined ? Object.keys(SCENARIOS) : [asked]
  const results = {}
  for (const name of names) {
    for (const system of only) {
      const scenario = quick ? shortened(SCENARIOS[name]) : SCENARIOS[name]
      console.log(`\n${name}, ${system}`)
      const result = await runScenario(system, scenario)
      results[name] = { ...results[name], [system]: { ...result, ...judged(result) } }
      print(results[name][system])
    }
  }
  const [{ server }] = Object.values(results).flatMap((systems) => Object.values(systems))
  return { contenderNode: nodeVersion(), environment: environment({}), server, results }
}

/** What the environment says wins over the scenario, and that over the rest. */
function environment(more) {
  const given = Object.keys(ENVIRONMENT).filter((name) => process.env[name] !== undefined)
  return { ...ENVIRONMENT, ...more, ...Object.fromEntries(given.map((name) => [name, process.env[name]])) }
}

async function runScenario(system, { phases, env = {}, replicas: count = 1 }) {
  const contender = await contenderOf(system)
  const settings = environment(env)
  const server = await startServer(SERVER_SETTINGS)
  const folder = mkdtempSync(join(tmpdir(), "carillon-bench-rate-"))
  const rateFile = join(folder, "rate")
  const rate = Number(settings.PRODUCER_RATE)
  writeFileSync(rateFile, String(rate))
  const acknowledgedFile = join(folder, "acknowledged")
  writeFileSync(acknowledgedFile, "")
  try {
    return await server.withDatabase(async (url) => {
      const replicas = createReplicas({
        ...settings,
        SYSTEM: system,
        DATABASE_URL: url,
        PRODUCER_RATE_CONTROL_FILE: rateFile,
        ACKNOWLEDGED_FILE: acknowledgedFile,
      })
      const database = new URL(url).pathname.slice(1)
      const on = { server, url, database, tables: contender.tables, replicas, rateFile, rate }
      try {
        for (let instance = 0; instance < count; instance += 1) {
          replicas.start(instance)
          // The first makes the tables.
          verifyTables(await descriptorOf(replicas, instance), contender)
        }
        const spans = []
        for (const phase of phases) spans.push(await pass(on, phase))
        writeFileSync(rateFile, "0")
        const end = await drained(on, contender, acknowledgedIn(acknowledgedFile))
        const summaries = spans.map((span) => summarise(span, replicas.records))
        const survived = { alive: replicas.alive().length, complaints: replicas.unwanted.slice(-20) }
        const { version, settings: serverSettings } = server
        const about = { server: { version, settings: serverSettings }, env }
        return { ...about, phases: summaries, replicas: count, ...end, ...survived }
      } finally {
        await replicas.stop()
      }
    })
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function descriptorOf({ records, unwanted, alive }, instance) {
  for (;;) {
    const found = records.find((each) => each.kind === "descriptor" && each.instance_id === instance)
    if (found) return found
    if (alive().length === 0) throw new Error(`the adapter ended: ${unwanted.slice(-5).join("; ")}`)
    await sleep(50)
  }
}

/** As the harness does: it refuses a process that does not know the tables that its file has promised. */
function verifyTables({ system, event_tables: known }, { tables }) {
  const promised = system === "carillon" ? ADAPTER.event_tables : tables
  const unknown = promised.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`${system} does not tell of ${unknown.join(", ")}`)
}

async function pass(on, phase) {
  const fromMs = performance.now()
  const leave = await STRESS[phase.kind](on, phase)
  await sleep(phase.seconds * 1_000)
  await leave()
  const dead = await on.server.inDatabase(on.url, (client) =>
    client.query("select coalesce(sum(n_dead_tup), 0)::int as dead from pg_stat_user_tables"),
  )
  return { ...phase, fromMs, toMs: performance.now(), deadTuples: dead.rows[0].dead }
}

/**
 * Medians of the samples of a phase; the processes' rates are added up, and the slowest of them counts for latency.
 * Percentiles are of the last 30 seconds each, so those count that hold nothing of the phase before, or the last one.
 */
function summarise({ name, kind, fromMs, toMs, deadTuples }, records) {
  const here = records.filter(({ atMs, kind: of }) => of === "adapter" && atMs > fromMs && atMs <= toMs)
  const at = (metric, combine) => {
    const byTick = new Map()
    const ofPhase = here.filter(
      ({ metric: of, window_s, atMs }) => of === metric && atMs > fromMs + window_s * 1_000,
    )
    const chosen = ofPhase.length > 0 ? ofPhase : here.filter(({ metric: of }) => of === metric).slice(-1)
    for (const { t, value } of chosen) byTick.set(t, [...(byTick.get(t) ?? []), value])
    return [...byTick.values()].map((values) => combine(values))
  }
  const sum = (values) => values.reduce((total, value) => total + value, 0)
  const most = (values) => Math.max(0, ...values)
  const middle = (values) => (values.length === 0 ? 0 : round(median(values)))
  return {
    name,
    kind,
    enqueueRate: middle(at("enqueue_rate", sum)),
    completionRate: middle(at("completion_rate", sum)),
    claimP50Ms: middle(at("claim_p50_ms", most)),
    claimP95Ms: middle(at("claim_p95_ms", most)),
    claimP99Ms: middle(at("claim_p99_ms", most)),
    depthMost: most(at("queue_depth", most)),
    deadTuples,
  }
}

/** The names of all jobs whose enqueue was answered. */
function acknowledgedIn(file) {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const [by, first, last] = line.split(" ")
      return Array.from(
        { length: Number(last) - Number(first) + 1 },
        (_, index) => `${by} ${Number(first) + index}`,
      )
    })
}

/** How long the rest takes, what is left, and whether all that was acknowledged is in the history or left. */
async function drained({ url, server }, contender, acknowledged) {
  const fromMs = performance.now()
  return server.inDatabase(url, async (client) => {
    const count = async (from) => (await client.query(`select count(*)::int as count ${from}`)).rows[0].count
    let left = await count(contender.left)
    while (left > 0 && performance.now() - fromMs < DRAIN_MS) {
      await sleep(250)
      left = await count(contender.left)
    }
    const drainMs = Math.round(performance.now() - fromMs)
    const there = new Set()
    const { kept, input } = contender
    for (const from of input === undefined ? [] : [kept, contender.left]) {
      const { rows } = await client.query(`select ${input}->>'by' as by, ${input}->>'n' as n ${from}`)
      for (const { by, n } of rows) there.add(`${by} ${n}`)
    }
    const lost = input === undefined ? undefined : acknowledged.filter((name) => !there.has(name)).length
    return { drainMs, left, acknowledged: acknowledged.length, lost }
  })
}

/** How much of the speed before is there after the stress. */
const BACK = 0.95

/** Did it come through? Nothing is lost or left, every process lives, and it is as fast as before. */
function judged({ phases, replicas, alive, left, lost }) {
  const rateOf = (wanted) => phases.find(({ name }) => name === wanted)?.completionRate
  const [before, after] = [rateOf("baseline"), rateOf("recovery")]
  const recovered = before === undefined ? undefined : round(after / before)
  const isFine = (lost ?? 0) === 0 && left === 0 && alive === replicas && (recovered ?? 1) >= BACK
  if (!isFine) process.exitCode = 1
  if (!isFine) return { recovered, verdict: MISSED }
  // A contender without a history, or without inputs in it, cannot be asked what is missing.
  return { recovered, verdict: lost === undefined ? "holds, as far as can be seen" : "holds" }
}

function print(result) {
  const { phases, drainMs, left, acknowledged, lost, alive, replicas, complaints, recovered, verdict } =
    result
  const head = ["", "enqueued/s", "completed/s", "claim p50 ms", "p95", "p99", "depth", "dead tuples"]
  const rows = phases.map((each) => [
    each.name,
    thousands(each.enqueueRate),
    thousands(each.completionRate),
    each.claimP50Ms,
    each.claimP95Ms,
    each.claimP99Ms,
    thousands(each.depthMost),
    thousands(each.deadTuples),
  ])
  console.log(table(head, rows))
  const history = lost === undefined ? "" : `, of which ${lost === 0 ? "none is" : `${lost} are`} missing`
  const speed = recovered === undefined ? "" : `; ${round(recovered * 100)} % of the speed before`
  console.log(
    `${alive} of ${replicas} processes alive; ${thousands(acknowledged)} acknowledged${history}; ` +
      `${thousands(left)} left after ${drainMs} ms${speed}: ${verdict}`,
  )
  if (complaints.length > 0) console.log(`last words: ${complaints.slice(-3).join(" | ").slice(0, 400)}`)
}
