/** Part "claims": what stands in the way of a claim, and how soon it sees what comes late. */
import { fileURLToPath } from "node:url"
import { median, round, table, thousands } from "../tools/measure.mjs"
import { startProcess } from "../tools/processes.mjs"
import { startServer } from "../tools/server.mjs"
import { atMost } from "../tools/verdict.mjs"
import { OBSTACLES } from "./obstacles.mjs"

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url))
const CHILD_MS = 120_000
/** `heldMs`: ten seconds for the first late commit, as long as a patient user's transaction; the others take less. */
const FULL = { rounds: 3, count: 100_000, ready: 30_000, heldMs: [10_000, ...Array(7).fill(1_500)] }
const QUICK = { rounds: 1, count: 10_000, ready: 5_000, heldMs: [1_500, 1_500] }
/** Milliseconds from the commit to the start: with wake-ups, and with every one of them lost. */
const LIMITS_MS = { true: 100, false: 1_000 }

export async function run({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  const server = await startServer()
  // To see whether it works nobody has to wait for an idle machine.
  const withDatabase = quick ? server.withDatabase : server.withQuietDatabase
  try {
    const behind = await measureObstacles(withDatabase, sizes)
    const late = await measureLate(withDatabase, sizes)
    return {
      server: { version: server.version, settings: server.settings },
      count: sizes.count,
      behind,
      late,
    }
  } finally {
    await server.stop()
  }
}

async function measureObstacles(withDatabase, { rounds, count, ready }) {
  const rates = Object.fromEntries(Object.keys(OBSTACLES).map((name) => [name, []]))
  for (let each = 0; each < rounds; each += 1) {
    for (const obstacle of Object.keys(OBSTACLES)) {
      const { perSecond } = await withDatabase((url) =>
        inChild("drainBehind", { obstacle, count, ready, url }),
      )
      rates[obstacle].push(perSecond)
      console.log(`round ${each + 1}, behind ${obstacle}: ${thousands(perSecond)}/s`)
    }
  }
  const free = median(rates.nothing)
  const figures = Object.entries(OBSTACLES)
    .filter(([name]) => name !== "nothing")
    .map(([name, { title, most }]) => {
      const times = free / median(rates[name])
      return { name, title, times: round(times), most, verdict: atMost(times, { limit: most }) }
    })
  const rows = figures.map(({ title, times, most, verdict }) => [title, times, most, verdict])
  console.log(
    `\n${thousands(free)}/s with nothing in the way; so many times slower behind ${thousands(count)} runs`,
  )
  console.log(table(["", "times", "most", ""], rows))
  return { rates, figures }
}

async function measureLate(withDatabase, { heldMs }) {
  const figures = []
  for (const way of ["commit", "expedite"]) {
    for (const notices of [true, false]) {
      const { mostMs, times } = await withDatabase((url) =>
        inChild("lateCommit", { way, notices, heldMs, url }),
      )
      const limitMs = LIMITS_MS[notices]
      figures.push({ way, notices, mostMs, times, limitMs, verdict: atMost(mostMs, { limit: limitMs }) })
    }
  }
  const rows = figures.map(({ way, notices, mostMs, limitMs, verdict }) => [
    `${way === "commit" ? "a late commit" : "expedited by another process"}, ${notices ? "with" : "without"} wake-ups`,
    round(mostMs),
    limitMs,
    verdict,
  ])
  console.log(`\nTo the start, the slowest of ${heldMs.length}, ms\n${table(["", "ms", "most", ""], rows)}`)
  return figures
}

async function inChild(question, task) {
  const child = startProcess(CHILD, { name: JSON.stringify(task), mostMs: CHILD_MS })
  try {
    return await child.ask(question, task)
  } finally {
    await child.end()
  }
}
