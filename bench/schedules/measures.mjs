/** The measurements, each on a table that holds what an earlier one left, put in order again. */
import { setTimeout as sleep } from "node:timers/promises"
import { machineMs, serverMs } from "../tools/cpu.mjs"
import { percentile } from "../tools/measure.mjs"
import { withSchedulers } from "./children.mjs"
import { clear, makeDue } from "./fill.mjs"
import { nowMs } from "./meter.mjs"
import { CHILD_MS, WARM_UP_S } from "./sizes.mjs"

/** For what is still on its way when the time is over. */
const REST_MS = 1_500
const MOST_LEAD_MS = 60_000
let measured = 0

/** Occurrences at an even pace, or in crowds on full seconds: how late they are, and what that costs. */
export async function steady(on, task) {
  const { perSecond, beforeS = 0, seconds, spec, overlap, slots = 0, meanwhile = (use) => use() } = task
  const uncountedS = WARM_UP_S + beforeS
  const count = spec === "often" ? perSecond * 10 : perSecond * (uncountedS + seconds)
  const due = { count, perSecond, spec, overlap }
  const { cost, said, fromMs, toMs } = await whenDue(on, due, { slots }, async (ask, firstMs) => {
    const [countedFromMs, countedToMs] = [0, seconds].map((second) => firstMs + (uncountedS + second) * 1_000)
    const used = await meanwhile(() =>
      costBetween({ ask, pid: on.pid, fromMs: countedFromMs, toMs: countedToMs }),
    )
    await sleep(REST_MS)
    const [answer] = await ask("stop")
    return { cost: used, said: answer, fromMs: countedFromMs, toMs: countedToMs }
  })
  const counts = (dueMs) => dueMs >= fromMs && dueMs < toMs
  const fired = (await firedBy(on.client, said.answeredAt)).filter(({ dueMs }) => counts(dueMs))
  const expected = perSecond * seconds
  if (fired.length !== expected) throw new Error(`void: ${fired.length} of ${expected} occurrences fired`)
  const late = fired.map(({ lateMs }) => lateMs)
  const started = said.starts.filter(([dueMs]) => counts(dueMs)).map(([, lateMs]) => lateMs)
  if (slots > 0 && started.length !== expected) {
    throw new Error(`void: ${started.length} of ${expected} runs were started`)
  }
  return { late: spread(late), ...(slots > 0 && { started: spread(started) }), ...cost }
}

/** Nothing is due: what a process does all the same. */
export async function idle({ client, pid, url }, { seconds }) {
  await clear(client)
  return withSchedulers({ url }, async (ask) => {
    const fromMs = nowMs() + 2_000
    return costBetween({ ask, pid, fromMs, toMs: fromMs + seconds * 1_000 })
  })
}

/** Many due at the same instant: how long it takes until the last of them has its run. */
export async function crowd(on, { count, processes }) {
  const { client, pid } = on
  const due = { count, perSecond: Number.POSITIVE_INFINITY, spec: "cron" }
  return whenDue(on, due, { count: processes }, async (ask, fromMs) => {
    await until(fromMs)
    const before = { machine: machineMs(), node: await nodeMs(ask), server: serverMs(pid) }
    // Asking is a look at the index's end: it takes nothing from those who work.
    while (await anyDue(client, fromMs)) {
      if (nowMs() - fromMs > CHILD_MS) throw new Error(`void: not done within ${CHILD_MS / 1_000} s`)
      await sleep(100)
    }
    const after = { machine: machineMs(), node: await nodeMs(ask), server: serverMs(pid) }
    const said = await ask("stop")
    const { rows } = await client.query("select count(*)::int as fired from carillon.fires")
    if (rows[0].fired !== count) throw new Error(`void: ${rows[0].fired} of ${count} occurrences fired`)
    const lastMs = Math.max(...said.flatMap(({ answeredAt }) => answeredAt))
    const each = said.map(({ answeredAt }) => answeredAt.length)
    return {
      seconds: (lastMs - fromMs) / 1_000,
      perSecond: (count * 1_000) / (lastMs - fromMs),
      transactions: each,
      nodeMs: after.node - before.node,
      serverMs: after.server - before.server,
      ...shares(before, after),
    }
  })
}

/**
 * Makes schedules due, starts the processes, and calls `use` with the first instant, which is still to come. On a
 * machine that is busy that takes longer than was allowed for: then it is done again, with more time.
 */
async function whenDue(on, due, schedulers, use) {
  for (;;) {
    await clear(on.client)
    const fromMs = Math.ceil((nowMs() + on.leadMs) / 1_000) * 1_000
    await makeDue(on.client, { ...due, fromMs, seed: nextSeed() })
    const used = await withSchedulers({ url: on.url, ...schedulers }, async (ask) =>
      nowMs() < fromMs ? { result: await use(ask, fromMs) } : undefined,
    )
    if (used) return used.result
    if (on.leadMs > MOST_LEAD_MS) throw new Error("void: schedules cannot be made due in time")
    on.leadMs *= 2
  }
}

/** What the process and the server use, and what is asked, for each second. */
async function costBetween({ ask, pid, fromMs, toMs }) {
  const look = async () => {
    const [{ atMs, sent, cpuMs }] = await ask("read")
    return { atMs, sent, node: cpuMs, server: serverMs(pid), machine: machineMs() }
  }
  await until(fromMs)
  const before = await look()
  await until(toMs)
  const after = await look()
  const seconds = (after.atMs - before.atMs) / 1_000
  const sent = Object.entries(after.sent)
    .map(([name, count]) => [name, (count - (before.sent[name] ?? 0)) / seconds])
    .filter(([, rate]) => rate > 0)
    .sort(([, a], [, b]) => b - a)
  return {
    sentPerSecond: sent.reduce((sum, [, rate]) => sum + rate, 0),
    sent: Object.fromEntries(sent),
    nodeMsPerSecond: (after.node - before.node) / seconds,
    serverMsPerSecond: (after.server - before.server) / seconds,
    ...shares(before, after),
  }
}

/** How much of the machine was used by neither the schedulers nor the server. */
function shares(before, after) {
  const used = (key) => after[key] - before[key]
  const busy = after.machine.busy - before.machine.busy - used("node") - used("server")
  return { others: Math.max(0, busy / (after.machine.all - before.machine.all)) }
}

async function nodeMs(ask) {
  return (await ask("read")).reduce((sum, { cpuMs }) => sum + cpuMs, 0)
}

/** Each occurrence with how late it was. The n-th transaction that fired is the n-th whose commit was answered. */
async function firedBy(client, answeredAt) {
  const { rows } = await client.query(`
    select array_agg(extract(epoch from due_at)::float8 * 1000) as dues
    from carillon.fires
    group by xmin::text
    order by min(decided_at)
  `)
  if (rows.length !== answeredAt.length) {
    throw new Error(`void: ${rows.length} transactions fired, and ${answeredAt.length} were answered`)
  }
  return rows.flatMap(({ dues }, index) =>
    dues.map((dueMs) => ({ dueMs, lateMs: answeredAt[index] - dueMs })),
  )
}

async function anyDue(client, fromMs) {
  const { rows } = await client.query(
    "select exists (select from carillon.schedules where next_at <= to_timestamp($1 / 1000.0)) as any",
    [fromMs],
  )
  return rows[0].any
}

function spread(values) {
  const at = (share) => percentile(values, share)
  return { p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999), mostMs: at(1) }
}

function nextSeed() {
  measured += 1
  return `measurement ${measured}`
}

async function until(ms) {
  await sleep(Math.max(0, ms - nowMs()))
}
