/** Part "queue": Carillon beside the queues on PostgreSQL that Node has, each at its best settings. */
import { versionOf } from "../machine.mjs"
import { measureInChild } from "./children.mjs"
import { contenderOf, NAMES, PEERS } from "./contenders.mjs"
import { SHARE } from "./quiet.mjs"
import { print, summarise } from "./report.mjs"
import { startServer } from "./server.mjs"
import { BOTH_BATCH, JOBS, PACE_MS, ROUNDS, WARM_UP } from "./sizes.mjs"

/** Each measure, and under which name its settings are listed. */
const MEASURES = {
  bulk: "bulk",
  bulkCall: "bulkCall",
  drain: "drain",
  both: "both",
  latencySame: "latency",
  latencyOther: "latency",
}

export async function run() {
  const peers = Object.fromEntries(
    PEERS.map((name) => [name, versionOf(`../node_modules/${name}/package.json`)]),
  )
  const contenders = Object.fromEntries(
    await Promise.all(NAMES.map(async (name) => [name, await contenderOf(name)])),
  )
  const server = await startServer()
  try {
    describe(peers, server, contenders)
    const rounds = Object.fromEntries(
      Object.keys(MEASURES).map((measure) => [measure, Object.fromEntries(NAMES.map((name) => [name, []]))]),
    )
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [measure, key] of Object.entries(MEASURES)) {
        for (const name of inTurn(round)) {
          const task = { measure, contender: name, settings: contenders[name].settings[key] }
          const result = await server.withQuietDatabase((url) => measureInChild({ ...task, url }))
          rounds[measure][name].push(result)
          console.log(`round ${round + 1}, ${measure}, ${name}: ${JSON.stringify(result)}`)
        }
      }
    }
    const figures = summarise(rounds)
    print(figures)
    const isDisturbed = Object.values(rounds).some((of) =>
      Object.values(of).some((results) => results.some(({ others = 0 }) => others > SHARE)),
    )
    if (isDisturbed) console.warn("\nDISTURBED: others used the machine meanwhile. Not to be published.")
    return {
      isDisturbed,
      peers,
      server: { version: server.version, settings: server.settings },
      sizes: { ROUNDS, JOBS, WARM_UP, BOTH_BATCH, PACE_MS },
      settings: Object.fromEntries(NAMES.map((name) => [name, contenders[name].settings])),
      figures,
      rounds,
    }
  } finally {
    await server.stop()
  }
}

/** Who goes first changes from round to round. */
function inTurn(round) {
  const first = round % NAMES.length
  return [...NAMES.slice(first), ...NAMES.slice(0, first)]
}

function describe(peers, server, contenders) {
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`)
  const settings = Object.entries(server.settings).map(([name, value]) => `${name}=${value}`)
  console.log(`${versions.join(", ")}; medians of ${ROUNDS} interleaved rounds`)
  console.log(`PostgreSQL ${server.version}, through its socket: ${settings.join(" ")}`)
  for (const name of NAMES) console.log(`${name}: ${JSON.stringify(contenders[name].settings)}`)
}
