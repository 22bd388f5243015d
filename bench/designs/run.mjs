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
import { insertOf, measureAlone } from "./alone.mjs"
import { DESIGNS } from "./designs.mjs"
import { INSERTS, measureInserts } from "./inserts.mjs"
import { measureWaits, WAITS } from "./waits.mjs"

const FULL = {
  ...{ rounds: 5, batch: 1_000, batches: 100, warmUp: 10, alone: 1_000 },
  inserts: { batch: 5_000, batches: 20, warmUp: 4 },
  waits: { batch: 1_000, batches: 100, warmUp: 10 },
}
const QUICK = {
  ...{ rounds: 1, batch: 1_000, batches: 5, warmUp: 1, alone: 50 },
  inserts: { batch: 1_000, batches: 5, warmUp: 1 },
  waits: { batch: 1_000, batches: 5, warmUp: 1 },
}
/** Whether somebody holds an old snapshot meanwhile. */
const HELD = { free: false, held: true }
/** Batches, as the product does it: 10,000 runs. */
const FORGET_EVERY = 10

export async function run({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  const server = await startServer()
  const costs = Object.fromEntries(Object.keys(DESIGNS).map((name) => [name, []]))
  const insertCosts = Object.fromEntries(Object.keys(INSERTS).map((name) => [name, []]))
  const waitCosts = Object.fromEntries(Object.keys(WAITS).map((name) => [name, { free: [], held: [] }]))
  let alone
  try {
    alone = await server.withDatabase((url) => oneByOne(url, sizes.alone))
    console.log(`one run, us of the server: ${JSON.stringify(alone)}`)
    for (let each = 0; each < sizes.rounds; each += 1) {
      for (const [name, design] of Object.entries(DESIGNS)) {
        const measured = await server.withDatabase((url) => measure(url, design, sizes))
        costs[name].push(measured)
        console.log(`round ${each + 1}, ${name}: ${JSON.stringify(measured)}`)
      }
      for (const [name, way] of Object.entries(INSERTS)) {
        const measured = await server.withDatabase((url) => inBulk(url, way, sizes.inserts))
        insertCosts[name].push(measured)
        console.log(`round ${each + 1}, written in bulk, ${name}: ${JSON.stringify(measured)}`)
      }
      for (const [name, design] of Object.entries(WAITS)) {
        for (const [key, isHeld] of Object.entries(HELD)) {
          const measured = await server.withDatabase((url) =>
            waiting(url, design, { ...sizes.waits, isHeld }),
          )
          waitCosts[name][key].push(measured)
          console.log(`round ${each + 1}, delayed, ${name}, ${key}: ${JSON.stringify(measured)}`)
        }
      }
    }
  } finally {
    await server.stop()
  }
  const figures = Object.entries(DESIGNS).map(([name, { title }]) => {
    const all = (key) => costs[name].map((cost) => cost[key])
    const bytes = (key) => Math.round(median(all(key)))
    return {
      ...{ name, title, insertUs: spreadOf(all("insertUs")) },
      ...{ claimUs: spreadOf(all("claimUs")), endUs: spreadOf(all("endUs")) },
      ...{ claimBytes: bytes("claimBytes"), endBytes: bytes("endBytes") },
    }
  })
  console.log(
    table(
      ["", "insert, us", "claim, us", "end, us", "claim, bytes of WAL", "end, bytes of WAL"],
      figures.map(({ name, insertUs, claimUs, endUs, claimBytes, endBytes }) => [
        name,
        insertUs.median,
        claimUs.median,
        endUs.median,
        claimBytes,
        endBytes,
      ]),
    ),
  )
  const inserts = Object.entries(INSERTS).map(([name, { title }]) => ({
    ...{ name, title, us: spreadOf(insertCosts[name].map(({ us }) => us)) },
    bytes: Math.round(median(insertCosts[name].map(({ bytes }) => bytes))),
  }))
  console.log(
    table(
      ["written in bulk", "us", "bytes of WAL"],
      inserts.map(({ name, us, bytes }) => [name, us.median, bytes]),
    ),
  )
  const waits = Object.entries(WAITS).map(([name, { title }]) => {
    const { free, held } = waitCosts[name]
    const steps = Object.keys(free[0]).map((step) => [step, median(free.map((cost) => cost[step]))])
    const sums = (costs) => spreadOf(costs.map((cost) => Object.values(cost).reduce((a, b) => a + b)))
    return { name, title, ...Object.fromEntries(steps), us: sums(free), heldUs: sums(held) }
  })
  console.log(
    table(
      ["delayed", "us", "held, us"],
      waits.map(({ name, us, heldUs }) => [name, us.median, heldUs.median]),
    ),
  )
  const { version, settings } = server
  return { server: { version, settings }, sizes, alone, figures, inserts, waits }
}

/** A database with one worker, for `use`. */
async function withWorker(url, use) {
  const host = createSystemHost()
  const database = openServer(host, { url, schema: "carillon" })
  await migrate({ ...host, database })
  await makePartitions(database, 1)
  await database.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const lease = host.newId()
    await client.query(
      "insert into carillon.workers (lease, hostname, pid, pools, started_at, expires_at)" +
        " values ($1, 'here', 1, '{default}', now(), now() + interval '1 day')",
      [lease],
    )
    return await use({ host, client, lease })
  } finally {
    await client.end()
  }
}

function oneByOne(url, count) {
  return withWorker(url, ({ host, lease }) => {
    const open = async (plan) => {
      const opened = await openSession(url, plan)
      await opened.session.query("set synchronous_commit = off")
      return opened
    }
    return measureAlone({ host, lease, open, count, warmUp: Math.ceil(count / 10) })
  })
}

function inBulk(url, way, sizes) {
  return withWorker(url, ({ host, client }) =>
    measureInserts(way, { ...sizes, host, client, walBytes, open: () => openSession(url, "index") }),
  )
}

function waiting(url, design, sizes) {
  return withWorker(url, (on) =>
    measureWaits(design, { ...sizes, ...on, open: (plan) => openSession(url, plan) }),
  )
}

/** For each run: processor time of the session that does it, and bytes of WAL. Waiting for the disk is not in it. */
function measure(url, design, sizes) {
  return withWorker(url, (on) => measureOn(url, design, { ...sizes, ...on }))
}

async function measureOn(url, design, { batch, batches, warmUp, host, client, lease }) {
  const sessions = {
    insert: await openSession(url, "index"),
    claim: await openSession(url, "index"),
    end: await openSession(url, "hashed"),
  }
  try {
    for (const sql of design.setUp) await client.query(sql)
    const totals = { insertUs: 0, insertBytes: 0, claimUs: 0, endUs: 0, claimBytes: 0, endBytes: 0 }
    const count = async (step, ask) => {
      const { session, pid } = sessions[step]
      const [before, beforeUs] = [await walBytes(client), processUs(pid)]
      const { rows: found } = await session.query(ask)
      totals[`${step}Us`] += processUs(pid) - beforeUs
      totals[`${step}Bytes`] += (await walBytes(client)) - before
      return found
    }
    const clear = () => {
      for (const key of Object.keys(totals)) totals[key] = 0
    }
    for (let number = 1; number <= batches + warmUp; number += 1) {
      if (number === warmUp + 1) clear()
      await count("insert", insertOf(Array.from({ length: batch }, () => host.newId())))
    }
    const { insertUs } = totals
    await client.query("analyze")
    await client.query("checkpoint")
    for (let number = 1; number <= batches + warmUp; number += 1) {
      if (number === warmUp + 1) clear()
      const claim = BigInt(number)
      const found = await count("claim", design.claim({ lease, claim, batch }))
      if (found.length !== batch) throw new Error(`claimed ${found.length}`)
      await count("end", design.end({ lease, claim, ids: found.map(({ id }) => id) }))
      if (design.forget === undefined || number % FORGET_EVERY > 0) continue
      const claims = Array.from({ length: FORGET_EVERY }, (_, back) => claim - BigInt(back))
      await count("claim", design.forget({ lease, claims }))
    }
    const { rows: left } = await client.query("select count(*)::int as count from carillon.runs")
    if (left[0].count !== 0) throw new Error(`${left[0].count} runs are left`)
    const all = { ...totals, insertUs }
    return Object.fromEntries(Object.entries(all).map(([key, sum]) => [key, sum / (batch * batches)]))
  } finally {
    for (const { session } of Object.values(sessions)) await session.end()
  }
}

/** One for each kind of plan, as in the product. */
async function openSession(url, plan) {
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  if (plan !== "free") await session.query(ALWAYS_PLANNED[plan])
  const { rows } = await session.query("select pg_backend_pid() as pid")
  return { session, pid: rows[0].pid }
}

async function walBytes(client) {
  const { rows } = await client.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes")
  return Number(rows[0].bytes)
}
