/**
 * What a run that waits for a moment costs the server, from its insert to its end: as it is, and in other designs; without and
 * with somebody who holds an old snapshot, so that no row that dies makes room.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { claimRuns } from "../../dist/store/runs/claim.js"
import { completeRuns } from "../../dist/store/runs/complete.js"
import { insertDelayedRuns } from "../../dist/store/runs/insert-delayed.js"
import { promoteRuns } from "../../dist/store/runs/promote.js"
import { processUs } from "../tools/cpu.mjs"
import { INPUT, OF_JOB, SCHEMA } from "./alone.mjs"

const DELAY_MS = 1
/** All of a batch are due by then. */
const REST_MS = 3
const EVER_MS = 253_402_300_799_000
const LANE = { solos: [false], priorities: [0], tos: [2n ** 62n] }
/** Of each step, in the order of a run's life, the sessions are planned as in the product. */
const PLANS = { insert: "free", ready: "hashed", claim: "index", end: "hashed" }

const AS_IT_IS = { insert: insertDelayedRuns.text(SCHEMA), claim: claimRuns.text(SCHEMA), isPromoted: true }
/** It stands where claims look for it, at the rank of the moment when it is due, and they do not look beyond now. */
const IN_THE_QUEUE = {
  insert: changed(
    AS_IT_IS.insert,
    "rank + place - 1, 'waiting'",
    "(date_part('epoch', at + delay_ms * interval '1 millisecond') * 1000000)::bigint, 'queued'",
  ),
  claim: changed(
    AS_IT_IS.claim,
    "rank < lane.to_rank",
    "rank < lane.to_rank and rank <= (select (date_part('epoch', clock_timestamp()) * 1000000)::bigint)",
  ),
  isPromoted: false,
}

export const WAITS = {
  "as it is": {
    title: "it waits outside the queue, and is made ready when it is due; pages are filled to 30 %",
    ...AS_IT_IS,
  },
  "less room": { title: "the same with pages filled to 45 %", ...AS_IT_IS, fill: 45 },
  "in the queue": {
    title: "it stands in the queue from the start, at its time, and claims do not look beyond now; 30 %",
    ...IN_THE_QUEUE,
  },
  "in the queue, less room": { title: "the same with 45 %", ...IN_THE_QUEUE, fill: 45 },
}

/** A statement of the product's in another design; an error if it is no longer what it was. */
function changed(sql, from, to) {
  if (!sql.includes(from)) throw new Error(`there is no "${from}" to be changed in ${sql}`)
  return sql.replace(from, to)
}

/** For each run, the processor time of the session that does each step. Waiting for the disk is not in it. */
export async function measureWaits(design, { host, client, lease, open, isHeld, batch, batches, warmUp }) {
  if (design.fill) await client.query(`alter table ${SCHEMA}.runs set (fillfactor = ${design.fill})`)
  if (isHeld) await client.query("begin isolation level repeatable read; select from pg_class limit 1")
  const sessions = {}
  for (const [step, plan] of Object.entries(PLANS)) sessions[step] = await open(plan)
  const totals = { insert: 0, ready: 0, claim: 0, end: 0 }
  const run = async (step, text, values) => {
    const { session, pid } = sessions[step]
    const beforeUs = processUs(pid)
    const { rows } = await session.query({ name: step, text, values })
    totals[step] += processUs(pid) - beforeUs
    return rows
  }
  try {
    // As in the product: from where the last one ended.
    let [dueMs, rank] = [0, 0n]
    for (let number = 1; number <= warmUp + batches; number += 1) {
      if (number === warmUp + 1) for (const step of Object.keys(totals)) totals[step] = 0
      const ids = Array.from({ length: batch }, () => host.newId())
      const lists = { ids, inputs: ids.map(() => INPUT), delaysMs: ids.map(() => DELAY_MS) }
      await run("insert", design.insert, insertDelayedRuns.bind({ ...OF_JOB, ...lists, notAfter: null }))
      await sleep(REST_MS)
      if (design.isPromoted) {
        const params = promoteRuns.bind({ from: dueMs, to: EVER_MS, limit: batch })
        const [row] = await run("ready", promoteRuns.text(SCHEMA), params)
        if (row?.runs !== batch) throw new Error(`${row?.runs ?? 0} runs were made ready`)
        dueMs = Math.floor(Number(row.last_due))
      }
      const claim = BigInt(number)
      const wanted = { ...LANE, froms: [rank], mosts: [batch], limit: batch }
      const mine = { lease, claim, pool: "default", jobs: ["job"], except: [] }
      const taken = await run("claim", design.claim, claimRuns.bind({ ...mine, ...wanted }))
      if (taken.length !== batch) throw new Error(`claimed ${taken.length}`)
      rank = taken.map((row) => BigInt(row.rank)).reduce((a, b) => (a > b ? a : b))
      await run("end", completeRuns.text(SCHEMA), endOf(lease, claim, taken))
    }
    return Object.fromEntries(Object.entries(totals).map(([step, us]) => [step, us / (batch * batches)]))
  } finally {
    for (const { session } of Object.values(sessions)) await session.end()
    if (isHeld) await client.query("rollback")
  }
}

function endOf(lease, claim, taken) {
  const ids = taken.map(({ id }) => id)
  return completeRuns.bind({
    ...{ lease, worker: "here", version: null, ids, claims: ids.map(() => claim) },
    ...{ startedAgoMs: ids.map(() => 1), results: [], logs: [] },
  })
}
