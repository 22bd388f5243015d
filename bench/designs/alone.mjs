/** What statements about a single run cost the server, where nearly all of it is setting them up. */
import { claimRuns } from "../../dist/store/runs/claim.js"
import { completeRuns } from "../../dist/store/runs/complete.js"
import { handOffRun } from "../../dist/store/runs/hand-off.js"
import { insertOneRun } from "../../dist/store/runs/insert-one.js"
import { insertPlainRuns } from "../../dist/store/runs/insert-plain.js"
import { processUs } from "../tools/cpu.mjs"
import { median, round } from "../tools/measure.mjs"

export const SCHEMA = "carillon"
export const OF_JOB = { job: "job", pool: "default", priority: 0, history: "standard", buryWhenLost: false }
export const INPUT = '{"a":1,"b":"hello"}'

/** One call of the statement for lists. */
export const insertOf = (ids) =>
  ask(insertPlainRuns, {
    ...{ ...OF_JOB, ids, inputs: ids.map(() => INPUT) },
    ...{ notAfter: null, lease: null, claim: null },
  })

const ask = (statement, params) => ({
  name: statement.name,
  text: statement.text(SCHEMA),
  values: statement.bind(params),
})

/** `isTaken`: by its own process, in the insert. */
const INSERTS = {
  "insert-one": { write: ({ id }) => ask(insertOneRun, { ...OF_JOB, id, input: INPUT, notAfter: null }) },
  "insert-plain": { write: ({ id }) => list({ id, lease: null, claim: null }) },
  "hand-off": {
    isTaken: true,
    write: ({ id, lease, claim }) =>
      ask(handOffRun, { ...OF_JOB, id, input: INPUT, notAfter: null, lease, claim }),
  },
  "insert-plain, taken": { isTaken: true, write: list },
}

function list({ id, lease, claim }) {
  return ask(insertPlainRuns, { ...OF_JOB, ids: [id], inputs: [INPUT], notAfter: null, lease, claim })
}

/** Each has a session of its own, and they take turns. Commits wait for nothing, for waiting is not counted. */
export async function measureAlone({ host, lease, open, count, warmUp }) {
  const names = [...Object.keys(INSERTS), "claim", "complete"]
  const samples = Object.fromEntries(names.map((name) => [name, []]))
  const sessions = {}
  for (const name of names) sessions[name] = await open(name === "complete" ? "hashed" : "index")
  const run = async (name, query, isCounted) => {
    const { session, pid } = sessions[name]
    const before = processUs(pid)
    const { rows } = await session.query(query)
    if (isCounted) samples[name].push(processUs(pid) - before)
    return rows
  }
  try {
    let claim = 0n
    for (let each = 0; each < warmUp + count; each += 1) {
      for (const [name, { isTaken = false, write }] of Object.entries(INSERTS)) {
        const id = host.newId()
        claim += 1n
        await run(name, write({ id, lease, claim }), each >= warmUp)
        if (!isTaken) await claimIt({ run, lease, claim, isCounted: each >= warmUp })
        await endIt({ run, lease, claim, id, isCounted: each >= warmUp })
      }
    }
  } finally {
    for (const { session } of Object.values(sessions)) await session.end()
  }
  return Object.fromEntries(Object.entries(samples).map(([name, us]) => [name, round(median(us))]))
}

async function claimIt({ run, lease, claim, isCounted }) {
  const lane = { solos: [false], priorities: [0], froms: [0n], tos: [2n ** 62n], mosts: [1], limit: 1 }
  const params = { lease, claim, pool: "default", jobs: ["job"], except: [], ...lane }
  const rows = await run("claim", ask(claimRuns, params), isCounted)
  if (rows.length !== 1) throw new Error(`claimed ${rows.length} runs`)
}

async function endIt({ run, lease, claim, id, isCounted }) {
  const params = { lease, worker: "here", version: null, ids: [id], claims: [claim], startedAgoMs: [1] }
  const [row] = await run("complete", ask(completeRuns, { ...params, results: [], logs: [] }), isCounted)
  if (row.count !== 1) throw new Error(`ended ${row.count} runs`)
}
