/**
 * Part "occurrences": what an occurrence of a schedule with default settings costs beside a plain run. One process
 * executes as many of either, in turns, on one server.
 *
 * Plain runs are enqueued beforehand. The occurrences of as many schedules are due when the process starts, so their
 * time includes the ticks that make the runs. Either ends when the last run is in history.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { connect } from "../tools/driver.mjs"
import { inTurn, median, round, thousands } from "../tools/measure.mjs"
import { nowMs, startProcess } from "../tools/processes.mjs"
import { startServer, USUAL_AUTOVACUUM } from "../tools/server.mjs"
import { atLeast } from "../tools/verdict.mjs"
import { fill, makeDue } from "./fill.mjs"
import { CHILD_MS } from "./sizes.mjs"

const FULL = { rounds: 3, count: 20_000 }
const QUICK = { rounds: 1, count: 4_000 }
/** Of the speed of plain runs. */
const FLOOR = 0.5
const AIM = 0.8
const LOOK_EVERY_MS = 5
const LEAD_MS = 5_000
const EXECUTOR = fileURLToPath(new URL("executor.mjs", import.meta.url))
/** What is executed: plain runs, or occurrences under an overlap policy. */
const LOADS = { plain: undefined, skip: "skip", allow: "allow" }

export async function run({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  const server = await startServer(USUAL_AUTOVACUUM)
  const rounds = []
  try {
    for (let number = 0; number < sizes.rounds; number += 1) {
      const rates = {}
      for (const [name, overlap] of inTurn(Object.entries(LOADS), number)) {
        rates[name] = await server.withDatabase((url) => measure(url, sizes.count, overlap))
        console.log(`${name}: ${thousands(rates[name])} a second`)
      }
      rounds.push(rates)
    }
  } finally {
    await server.stop()
  }
  const perSecond = Object.fromEntries(
    Object.keys(LOADS).map((name) => [name, round(median(rounds.map((rates) => rates[name])))]),
  )
  const shareOf = (name) => {
    const shares = rounds.map((rates) => rates[name] / rates.plain)
    return {
      median: round(median(shares)),
      least: round(Math.min(...shares)),
      most: round(Math.max(...shares)),
    }
  }
  const share = { skip: shareOf("skip"), allow: shareOf("allow") }
  const verdict = atLeast(share.skip.median, { floor: FLOOR, aim: AIM })
  console.log(`\n${share.skip.median} of the speed of plain runs; at least ${FLOOR}, aim ${AIM}: ${verdict}`)
  return {
    server: { version: server.version, settings: server.settings },
    sizes,
    perSecond,
    share,
    floor: FLOOR,
    aim: AIM,
    verdict,
    rounds,
  }
}

/** How many are executed in a second. */
async function measure(url, count, overlap) {
  const child = startProcess(EXECUTOR, { name: "executor", mostMs: 2 * CHILD_MS })
  const client = await connect(url)
  try {
    await child.ask("open", { url, runs: overlap === undefined ? count : 0 })
    if (overlap !== undefined) {
      await fill(client, count)
      // Only what is due after it was written counts.
      const fromMs = Math.ceil((Date.now() + LEAD_MS) / 1_000) * 1_000
      await makeDue(client, {
        count,
        fromMs,
        perSecond: Number.POSITIVE_INFINITY,
        spec: "cron",
        overlap,
        seed: "",
      })
      if (Date.now() > fromMs) throw new Error("void: schedules cannot be made due in time")
      await sleep(fromMs - Date.now())
    }
    await client.query("analyze")
    await client.query("checkpoint")
    const { fromMs } = await child.ask("execute", { count })
    while (await isAnyLeft(client)) await sleep(LOOK_EVERY_MS)
    const ms = nowMs() - fromMs
    await child.ask("stop")
    const { rows } = await client.query(
      "select count(*)::int as ended from carillon.attempts where run_state = 'succeeded'",
    )
    if (rows[0].ended !== count) throw new Error(`void: ${rows[0].ended} of ${count} runs are in history`)
    return (count * 1_000) / ms
  } finally {
    await child.end()
    await client.end()
  }
}

async function isAnyLeft(client) {
  const { rows } = await client.query("select exists (select from carillon.runs) as any")
  return rows[0].any
}
