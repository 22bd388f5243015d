/**
 * Part "debian": Carillon on Debian's PostgreSQL as it comes, with JIT on, beside npm's binaries of PostgreSQL 18,
 * which have none. One process drains plain runs, then enqueues one run after the other and waits for each result.
 */
import { rm } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { debianVersion, linkDebian } from "../../scripts/debian-postgres.mjs"
import { connect } from "../tools/driver.mjs"
import { inTurn, median, round, thousands } from "../tools/measure.mjs"
import { startProcess } from "../tools/processes.mjs"
import { startServer, USUAL_AUTOVACUUM } from "../tools/server.mjs"
import { atLeast } from "../tools/verdict.mjs"

const FULL = { rounds: 3, count: 50_000, single: 500 }
const QUICK = { rounds: 1, count: 5_000, single: 50 }
/** Of the speed on npm's binaries. */
const FLOOR = 0.9
const AIM = 1
const CHILD_MS = 120_000
const EXECUTOR = fileURLToPath(new URL("../schedules/executor.mjs", import.meta.url))

export async function run({ quick = false } = {}) {
  const version = await debianVersion()
  if (version === undefined) {
    throw new Error(
      "Debian's PostgreSQL is not installed: `apt-get install --no-install-recommends postgresql`",
    )
  }
  const sizes = quick ? QUICK : FULL
  const folder = await linkDebian(version)
  const servers = {
    debian: await startServer(USUAL_AUTOVACUUM, { binariesDir: folder }),
    npm: await startServer(USUAL_AUTOVACUUM),
  }
  const rounds = []
  try {
    const jit = await servers.debian.query(
      "select current_setting('jit') as jit, pg_jit_available() as is_there",
    )
    if (jit.rows[0].jit !== "on" || !jit.rows[0].is_there) throw new Error("void: Debian's server has no JIT")
    for (let number = 0; number < sizes.rounds; number += 1) {
      const figures = {}
      for (const [name, server] of inTurn(Object.entries(servers), number)) {
        figures[name] = await server.withDatabase((url) => measure(url, sizes))
        const { perSecond, resultMs } = figures[name]
        console.log(`${name}: ${thousands(perSecond)} a second, ${round(resultMs)} ms from enqueue to result`)
      }
      rounds.push(figures)
    }
  } finally {
    for (const server of Object.values(servers)) await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  const shares = rounds.map(({ debian, npm }) => debian.perSecond / npm.perSecond)
  const share = round(median(shares))
  const verdict = atLeast(share, { floor: FLOOR, aim: AIM })
  console.log(`\n${share} of the speed on npm's binaries; at least ${FLOOR}, aim ${AIM}: ${verdict}`)
  const middleOf = (name, key) => round(median(rounds.map((figures) => figures[name][key])))
  const figures = Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      {
        version: server.version,
        perSecond: middleOf(name, "perSecond"),
        resultMs: middleOf(name, "resultMs"),
      },
    ]),
  )
  return {
    sizes,
    figures,
    share: { median: share, all: shares.map((each) => round(each)) },
    floor: FLOOR,
    aim: AIM,
    verdict,
    rounds,
  }
}

async function measure(url, { count, single }) {
  const child = startProcess(EXECUTOR, { name: "executor", mostMs: CHILD_MS })
  const client = await connect(url)
  try {
    await child.ask("open", { url, runs: count })
    await client.query("checkpoint")
    const { ms } = await child.ask("drain", { count })
    const { medianMs } = await child.ask("results", { count: single })
    await child.ask("stop")
    return { perSecond: (count * 1_000) / ms, resultMs: medianMs }
  } finally {
    await child.end()
    await client.end()
  }
}
