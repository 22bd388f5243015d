/** Part "claims": what stands in the way of a claim, and how soon it sees what comes late. */
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { median, round, table, thousands } from "../measure.mjs"
import { startServer } from "../queue/server.mjs"
import { OBSTACLES } from "./obstacles.mjs"

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url))
const CHILD_MS = 120_000
const ROUNDS = 3
const COUNT = 100_000
/** Milliseconds from the commit to the start: with wake-ups, and with every one of them lost. */
const LIMITS_MS = { true: 100, false: 1_000 }

export async function run() {
  const server = await startServer()
  try {
    const behind = await measureObstacles(server)
    const late = await measureLate(server)
    return { server: { version: server.version, settings: server.settings }, count: COUNT, behind, late }
  } finally {
    await server.stop()
  }
}

async function measureObstacles(server) {
  const rates = Object.fromEntries(Object.keys(OBSTACLES).map((name) => [name, []]))
  for (let each = 0; each < ROUNDS; each += 1) {
    for (const obstacle of Object.keys(OBSTACLES)) {
      const task = { measure: "drainBehind", obstacle, count: COUNT }
      const { perSecond } = await server.withQuietDatabase((url) => inChild({ ...task, url }))
      rates[obstacle].push(perSecond)
      console.log(`round ${each + 1}, behind ${obstacle}: ${thousands(perSecond)}/s`)
    }
  }
  const free = median(rates.nothing)
  const figures = Object.entries(OBSTACLES)
    .filter(([name]) => name !== "nothing")
    .map(([name, { title, floor }]) => {
      const times = round(free / median(rates[name]))
      return { name, title, times, floor, verdict: times < floor ? "holds" : "MISSED" }
    })
  const rows = figures.map(({ title, times, floor, verdict }) => [title, times, floor, verdict])
  console.log(`\n${thousands(free)}/s with nothing in the way; so many times slower behind 100,000 runs`)
  console.log(table(["", "times", "most", ""], rows))
  return { rates, figures }
}

async function measureLate(server) {
  const figures = []
  for (const way of ["commit", "expedite"]) {
    for (const notices of [true, false]) {
      const { mostMs, times } = await server.withQuietDatabase((url) =>
        inChild({ measure: "lateCommit", way, notices, url }),
      )
      const limitMs = LIMITS_MS[notices]
      figures.push({ way, notices, mostMs, times, limitMs, verdict: mostMs < limitMs ? "holds" : "MISSED" })
    }
  }
  const rows = figures.map(({ way, notices, mostMs, limitMs, verdict }) => [
    `${way === "commit" ? "a late commit" : "expedited by another process"}, ${notices ? "with" : "without"} wake-ups`,
    round(mostMs),
    limitMs,
    verdict,
  ])
  console.log(`\nTo the start, the slowest of eight, ms\n${table(["", "ms", "most", ""], rows)}`)
  return figures
}

function inChild(task) {
  const child = fork(CHILD)
  const timer = setTimeout(() => child.kill("SIGKILL"), CHILD_MS)
  let said = {}
  child.on("message", (message) => {
    said = { ...said, ...message }
  })
  child.send(task)
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => {
      clearTimeout(timer)
      if (said.result && code === 0) resolve(said.result)
      else reject(new Error(`${JSON.stringify(task)}: ${said.failure ?? signal ?? code}`))
    })
  })
}
