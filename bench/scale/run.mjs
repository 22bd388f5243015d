/**
 * Part "pages": how long the reads behind every page and list take on ten million ended and a million live runs. It
 * takes less than 15 GB of disk for as long as it runs.
 */
import { statfs } from "node:fs/promises"
import { tmpdir } from "node:os"
import { createCarillon } from "../../dist/index.js"
import { connect } from "../tools/driver.mjs"
import { median, percentile, round, table, thousands } from "../tools/measure.mjs"
import { nowMs } from "../tools/processes.mjs"
import { startServer } from "../tools/server.mjs"
import { atMost } from "../tools/verdict.mjs"
import { fillScale } from "./fill.mjs"
import { readsOf } from "./reads.mjs"

const FULL = { ended: 10_000_000, live: 1_000_000, calls: 100 }
const QUICK = { ended: 50_000, live: 5_000, calls: 5 }
const NEEDED_GB = 15
/** Milliseconds of a call, the way to the server and back included. */
const MEDIAN_LIMIT_MS = 50
const P99_LIMIT_MS = 200

export async function run({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  await checkDisk(quick)
  const server = await startServer({ max_wal_size: "2GB" })
  try {
    return await server.withDatabase((url) => measure(url, sizes, server))
  } finally {
    await server.stop()
  }
}

async function measure(url, sizes, server) {
  const carillon = createCarillon({ database: url })
  await carillon.migrate()
  const client = await connect(url)
  try {
    const began = nowMs()
    await fillScale(client, sizes)
    await client.query("vacuum")
    await client.query("checkpoint")
    console.log(`${thousands(sizes.ended + sizes.live)} runs in ${round((nowMs() - began) / 60_000)} minutes`)
    const figures = []
    for (const [name, read] of await readsOf(carillon)) {
      figures.push({ name, ...(await timesOf(read, sizes.calls)) })
    }
    print(figures)
    return {
      server: { version: server.version, settings: server.settings },
      sizes,
      medianLimitMs: MEDIAN_LIMIT_MS,
      p99LimitMs: P99_LIMIT_MS,
      figures,
    }
  } finally {
    await client.end()
    await carillon.stop()
  }
}

/** The first calls open connections and prepare statements, which a server has done long before a person looks. */
async function timesOf(read, calls) {
  for (let call = 0; call < 3; call += 1) await read(call)
  const times = []
  for (let call = 0; call < calls; call += 1) {
    const from = performance.now()
    await read(call)
    times.push(performance.now() - from)
  }
  const [medianMs, p99Ms] = [median(times), percentile(times, 0.99)]
  const verdicts = [atMost(medianMs, { limit: MEDIAN_LIMIT_MS }), atMost(p99Ms, { limit: P99_LIMIT_MS })]
  return {
    medianMs: round(medianMs),
    p99Ms: round(p99Ms),
    verdict: verdicts.find((each) => each !== "holds") ?? "holds",
  }
}

async function checkDisk(quick) {
  const { bavail, bsize } = await statfs(tmpdir())
  const freeGb = (bavail * bsize) / 2 ** 30
  if (!quick && freeGb < NEEDED_GB) {
    throw new Error(
      `This part needs ${NEEDED_GB} GB of disk in ${tmpdir()}, and ${Math.round(freeGb)} are free.`,
    )
  }
}

function print(figures) {
  const rows = figures.map(({ name, medianMs, p99Ms, verdict }) => [name, medianMs, p99Ms, verdict])
  console.log(table(["read", "median ms", "99 % within ms", ""], rows))
}
