/**
 * Part "millions": what a claim costs, and how fast runs are executed and enqueued, with 10 million finished, 10
 * million future and a million ready runs, beside a database that has only the runs which are executed. It takes less
 * than 20 GB of disk for as long as it runs.
 */
import { statfs } from "node:fs/promises"
import { tmpdir } from "node:os"
import { createCarillon, defineJob } from "../../dist/index.js"
import { contenderOf } from "../queue/contenders.mjs"
import { withFleet } from "../queue/fleet.mjs"
import { pg } from "../tools/driver.mjs"
import { inTurn, median, round, table, thousands } from "../tools/measure.mjs"
import { nodeVersion } from "../tools/peers.mjs"
import { nowMs } from "../tools/processes.mjs"
import { measureQuietly, SHARE } from "../tools/quiet.mjs"
import { startServer } from "../tools/server.mjs"
import { atMost } from "../tools/verdict.mjs"
import { measureCalls } from "./calls.mjs"
import { fillWith, keepExamples, settle } from "./fill.mjs"
import { countOnce } from "./once.mjs"

const FULL = {
  rounds: 3,
  finished: 10_000_000,
  future: 10_000_000,
  ready: 1_000_000,
  warmUp: 20_000,
  counted: 60_000,
  bulk: 100_000,
  singleS: 3,
  latency: 900,
}
const QUICK = {
  rounds: 1,
  finished: 50_000,
  future: 50_000,
  ready: 30_000,
  warmUp: 2_000,
  counted: 8_000,
  bulk: 5_000,
  singleS: 0.5,
  latency: 100,
}
/** How many times slower it may be, and what is aimed at. */
const LIMIT = 1.3
const AIM = 1.1
const NEEDED_GB = 20
/** Claimed ahead of the runs that have ended when it is stopped. */
const SPARE = 10_000

export async function run({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  await checkDisk(quick)
  // A smaller log than elsewhere: it would hold as much as the tables. What a claim takes is asked of the server
  // itself.
  const server = await startServer({ max_wal_size: "2GB", shared_preload_libraries: "pg_stat_statements" })
  try {
    const stages = await server.withDatabase((emptyUrl) =>
      withPrepared(emptyUrl, (empty) =>
        server.withDatabase((fullUrl) =>
          withPrepared(fullUrl, (full) => measureStages({ server, empty, full, sizes, quick })),
        ),
      ),
    )
    print(sizes, stages)
    const isDisturbed = stages.some(({ rounds }) => rounds.some(({ others }) => others > SHARE))
    return {
      isDisturbed,
      contenderNode: nodeVersion(),
      server: { version: server.version, settings: server.settings },
      sizes,
      limit: LIMIT,
      aim: AIM,
      stages,
    }
  } finally {
    await server.stop()
  }
}

/** More and more in the one database, and each time both are measured in turns. */
async function measureStages({ server, empty, full, sizes, quick }) {
  const stages = []
  const contender = await contenderOf("carillon")
  for (const stage of ["finished", "future", "ready"]) {
    const began = nowMs()
    const isReady = stage === "ready"
    await fillWith(full.client, stage, { count: sizes[stage], from: isReady ? full.numbered : 0 })
    if (isReady) {
      full.ready += sizes.ready
      full.numbered += sizes.ready
    }
    await settle(full.client)
    console.log(`\n${thousands(sizes[stage])} ${stage} runs, in ${((nowMs() - began) / 1_000).toFixed(0)} s`)
    const rounds = []
    for (let number = 0; number < sizes.rounds; number += 1) {
      for (const [name, on] of inTurn(Object.entries({ empty, full }), number)) {
        const measure = async () => {
          await makeReady(on, sizes)
          const executed = await execute({ contender, server, on, sizes })
          // Behind a million that are ready, what is enqueued now starts much later.
          return isReady ? executed : { ...executed, ...(await measureCalls({ contender, on, sizes })) }
        }
        const result = quick ? await measure() : await measureQuietly(server.cpuMs, measure)
        rounds.push({ name, ...result })
        console.log(`${name}: ${JSON.stringify(result)}`)
      }
    }
    stages.push({ stage, count: sizes[stage], ...summarise(rounds), rounds })
  }
  return stages
}

const KEYS = ["claimUs", "perSecond", "serverUs", "bulk", "single", "startMs"]

function summarise(rounds) {
  const of = (name, key) => median(rounds.filter((each) => each.name === name).map((each) => each[key]))
  const figures = (name) =>
    Object.fromEntries(
      KEYS.flatMap((key) => (rounds[0][key] === undefined ? [] : [[key, round(of(name, key), 4)]])),
    )
  const times = of("full", "claimUs") / of("empty", "claimUs")
  return {
    empty: figures("empty"),
    full: figures("full"),
    times: round(times),
    verdict: atMost(times, { limit: LIMIT, aim: AIM }),
  }
}

/** As many as are executed, and those that are claimed ahead. What an earlier round left counts. */
async function makeReady(on, { warmUp, counted }) {
  const missing = warmUp + counted + SPARE - on.ready
  if (missing <= 0) return
  await fillWith(on.client, "ready", { count: missing, from: on.numbered })
  on.numbered += missing
  on.ready += missing
  await settle(on.client)
}

/** The first ones are executed like the others, but not counted: start-up and compiling are in them. */
async function execute({ contender, server, on, sizes }) {
  const { warmUp, counted } = sizes
  const place = { url: on.url }
  return withFleet(
    { contender, settings: contender.settings.drain, place },
    { processes: 1 },
    async (fleet) => {
      const [worker] = fleet.workers
      await fleet.openAll()
      await fleet.start()
      const look = async (count) => {
        await fleet.ran(count)
        const { cpuMs } = await worker.ask("used")
        const claims = (await on.client.query(CLAIMS)).rows[0]
        return {
          atMs: nowMs(),
          ran: fleet.state.timeline.at(-1)[1],
          cpuMs,
          serverMs: server.cpuMs(),
          ...claims,
        }
      }
      const before = await look(warmUp)
      const after = await look(warmUp + counted)
      await fleet.closeAll()
      const [{ times }] = await fleet.all("ran")
      on.ready -= countOnce(times, on.seen)
      if (after.claimed === before.claimed) throw new Error("void: no claim is among the server's statements")
      const each = (key) => ((after[key] - before[key]) * 1_000) / (after.ran - before.ran)
      return {
        perSecond: 1_000 / (each("atMs") / 1_000),
        nodeUs: each("cpuMs"),
        serverUs: each("serverMs"),
        claimUs: ((after.claimMs - before.claimMs) * 1_000) / (after.claimed - before.claimed),
      }
    },
  )
}

/** What all claims in this database have taken so far, and how many runs they have. */
const CLAIMS = `
  select coalesce(sum(total_exec_time), 0)::float8 as "claimMs", coalesce(sum(rows), 0)::float8 as claimed
  from pg_stat_statements
  join pg_database on pg_database.oid = dbid
  where datname = current_database() and query like '%taken as (%skip locked%noted as (%'`

/** A database with Carillon's tables in it, and an example of a run and of an attempt. */
async function withPrepared(url, use) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const noop = defineJob({ name: "noop", run: async () => {} })
    const worker = createCarillon({ database: url, jobs: [noop] })
    await worker.start()
    const { id } = await worker.enqueue(noop, { n: 0 })
    await worker.runs.wait(id)
    await worker.stop()
    // No process executes this one.
    const enqueuer = createCarillon({ database: url })
    await enqueuer.enqueue(noop, { n: 0 })
    await enqueuer.stop()
    await client.query("create extension pg_stat_statements")
    await keepExamples(client)
    return await use({ url, client, numbered: 0, ready: 0, seen: new Set() })
  } finally {
    await client.end()
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

function print({ finished, future, ready }, stages) {
  const titles = {
    finished: `${thousands(finished)} finished`,
    future: `and ${thousands(future)} in the future`,
    ready: `and ${thousands(ready)} ready`,
  }
  const rows = stages.map(({ stage, empty, full, times, verdict }) => [
    titles[stage],
    empty.claimUs,
    full.claimUs,
    times,
    verdict,
    thousands(empty.perSecond),
    thousands(full.perSecond),
  ])
  console.log(
    `\nMicroseconds of a claim for each run, and how many times slower; at most ${LIMIT}, aim ${AIM}`,
  )
  console.log(table(["", "without", "with", "times slower", "", "executed a second without", "with"], rows))
}
