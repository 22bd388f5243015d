/** Part "designs": what a claim and an end cost the server, in the product's design and in others. */
import { createSystemHost } from "../../dist/runtime/system.js"
import { makePartitions } from "../../dist/store/attempts/partitions.js"
import { migrate } from "../../dist/store/migrate.js"
import { openServer } from "../../dist/store/server/server.js"
import { ALWAYS_PLANNED } from "../../dist/store/statement.js"
import { processUs } from "../tools/cpu.mjs"
import { pg } from "../tools/driver.mjs"
import { median, spreadOf, table } from "../tools/measure.mjs"
import { startServer } from "../tools/server.mjs"
import { DESIGNS } from "./designs.mjs"

const FULL = { rounds: 5, batch: 1_000, batches: 100, warmUp: 10 }
const QUICK = { rounds: 1, batch: 1_000, batches: 5, warmUp: 1 }

export async function run({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  const server = await startServer()
  const costs = Object.fromEntries(Object.keys(DESIGNS).map((name) => [name, []]))
  try {
    for (let each = 0; each < sizes.rounds; each += 1) {
      for (const [name, design] of Object.entries(DESIGNS)) {
        const measured = await server.withDatabase((url) => measure(url, design, sizes))
        costs[name].push(measured)
        console.log(`round ${each + 1}, ${name}: ${JSON.stringify(measured)}`)
      }
    }
  } finally {
    await server.stop()
  }
  const figures = Object.entries(DESIGNS).map(([name, { title }]) => {
    const all = (key) => costs[name].map((cost) => cost[key])
    const bytes = (key) => Math.round(median(all(key)))
    return {
      ...{ name, title, claimUs: spreadOf(all("claimUs")), endUs: spreadOf(all("endUs")) },
      ...{ claimBytes: bytes("claimBytes"), endBytes: bytes("endBytes") },
    }
  })
  console.log(
    table(
      ["", "claim, us", "end, us", "claim, bytes of WAL", "end, bytes of WAL"],
      figures.map(({ name, claimUs, endUs, claimBytes, endBytes }) => [
        name,
        claimUs.median,
        endUs.median,
        claimBytes,
        endBytes,
      ]),
    ),
  )
  return { server: { version: server.version, settings: server.settings }, sizes, figures }
}

/** For each run: processor time of the session that does it, and bytes of WAL. Waiting for the disk is not in it. */
async function measure(url, design, { batch, batches, warmUp }) {
  const host = createSystemHost()
  const database = openServer(host, { url, schema: "carillon" })
  await migrate({ ...host, database })
  await makePartitions(database, 1)
  await database.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const sessions = { claim: await openSession(url, "index"), end: await openSession(url, "hashed") }
  try {
    for (const sql of design.setUp) await client.query(sql)
    const lease = host.newId()
    await client.query(
      "insert into carillon.workers (lease, hostname, pid, pools, started_at, expires_at)" +
        " values ($1, 'here', 1, '{default}', now(), now() + interval '1 day')",
      [lease],
    )
    await fill(client, host, batch * (batches + warmUp))
    const totals = { claimUs: 0, endUs: 0, claimBytes: 0, endBytes: 0 }
    const count = async (step, ask) => {
      const { session, pid } = sessions[step]
      const [before, beforeUs] = [await walBytes(client), processUs(pid)]
      const { rows: found } = await session.query(ask)
      totals[`${step}Us`] += processUs(pid) - beforeUs
      totals[`${step}Bytes`] += (await walBytes(client)) - before
      return found
    }
    for (let number = 1; number <= batches + warmUp; number += 1) {
      if (number === warmUp + 1) for (const key of Object.keys(totals)) totals[key] = 0
      const claim = BigInt(number)
      const found = await count("claim", design.claim({ lease, claim, batch }))
      if (found.length !== batch) throw new Error(`claimed ${found.length}`)
      await count("end", design.end({ lease, claim, ids: found.map(({ id }) => id) }))
    }
    const { rows: left } = await client.query("select count(*)::int as count from carillon.runs")
    if (left[0].count !== 0) throw new Error(`${left[0].count} runs are left`)
    return Object.fromEntries(Object.entries(totals).map(([key, sum]) => [key, sum / (batch * batches)]))
  } finally {
    for (const { session } of Object.values(sessions)) await session.end()
    await client.end()
  }
}

/** One for each kind of plan, as in the product. */
async function openSession(url, plan) {
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  await session.query(ALWAYS_PLANNED[plan])
  const { rows } = await session.query("select pg_backend_pid() as pid")
  return { session, pid: rows[0].pid }
}

async function fill(client, host, count) {
  for (let from = 0; from < count; from += 5_000) {
    const ids = Array.from({ length: Math.min(5_000, count - from) }, () => host.newId())
    await client.query(
      "insert into carillon.runs (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, history, bury_when_lost)" +
        " select id, 'job', 'default', 0, $2::bigint + place, 'queued', now(), now(), '{\"a\":1,\"b\":\"hello\"}', 'standard', false" +
        " from unnest($1::uuid[]) with ordinality as given (id, place)",
      [ids, from],
    )
  }
  await client.query("analyze")
  await client.query("checkpoint")
}

async function walBytes(client) {
  const { rows } = await client.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes")
  return Number(rows[0].bytes)
}
