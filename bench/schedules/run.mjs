/**
 * Part "schedules": how late occurrences are with a million schedules, what that costs, and how fast a crowd is served.
 */

import { round, table, thousands } from "../tools/measure.mjs"
import { SHARE } from "../tools/quiet.mjs"
import { startServer } from "../tools/server.mjs"
import { withSnapshot } from "../tools/snapshot.mjs"
import { atMost } from "../tools/verdict.mjs"
import { crowd, idle, steady } from "./measures.mjs"
import { withSchedules } from "./on.mjs"
import { FULL, PROCESSES, QUICK } from "./sizes.mjs"

/** Milliseconds within which 99 of 100 occurrences have their run; and what is aimed at. */
const LIMIT_MS = 20
const AIM_MS = 10
/** How much more the same load may cost beside a million others. */
const LIMIT_TIMES = 1.3

export async function run({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  const server = await startServer()
  try {
    const few = await server.withDatabase((url) =>
      withSchedules(url, sizes.few, (on) => measureFew(on, sizes)),
    )
    const many = await server.withDatabase((url) =>
      withSchedules(url, sizes.many, (on) => measureMany(on, sizes)),
    )
    const verdicts = judge(few, many)
    print(sizes, few, many, verdicts)
    return rounded({
      server: { version: server.version, settings: server.settings },
      sizes,
      few,
      many,
      verdicts,
      isDisturbed: [...Object.values(few), ...Object.values(many)].some(({ others }) => others > SHARE),
    })
  } finally {
    await server.stop()
  }
}

async function measureFew(on, { perSecond, shortS, idleS }) {
  return {
    same: await said("same", steady(on, { perSecond, seconds: shortS, spec: "often" })),
    idle: await said("idle", idle(on, { seconds: idleS })),
  }
}

async function measureMany(on, { perSecond, longS, shortS, idleS, atOnce }) {
  const load = { perSecond, seconds: shortS }
  const figures = {
    idle: await said("idle", idle(on, { seconds: idleS })),
    even: await said("even", steady(on, { perSecond, seconds: longS, spec: "daily" })),
    same: await said("same", steady(on, { ...load, spec: "often" })),
    onTheSecond: await said("onTheSecond", steady(on, { ...load, spec: "cron" })),
    skip: await said("skip", steady(on, { ...load, spec: "daily", overlap: "skip" })),
    executed: await said("executed", steady(on, { ...load, spec: "daily", slots: 100 })),
    oldSnapshot: await said(
      "oldSnapshot",
      steady(on, { ...load, spec: "daily", meanwhile: (use) => withSnapshot(on.url, use) }),
    ),
    crowd: {},
  }
  for (const processes of PROCESSES) {
    figures.crowd[processes] = await said("crowd", crowd(on, { count: atOnce, processes }))
  }
  return figures
}

/** Tells what was measured as soon as it is. */
async function said(name, measuring) {
  const result = await measuring
  const { late, started, seconds, sentPerSecond, nodeMsPerSecond, serverMsPerSecond, others } = result
  const parts = [
    late && `${inMs(late.p50Ms)} ms late, 99 % within ${inMs(late.p99Ms)}, the latest ${inMs(late.mostMs)}`,
    started && `started ${inMs(started.p50Ms)} ms late, 99 % within ${inMs(started.p99Ms)}`,
    seconds && `${seconds.toFixed(2)} s`,
    sentPerSecond && `${inMs(sentPerSecond)} commands/s`,
    nodeMsPerSecond !== undefined && `${inMs(nodeMsPerSecond)} + ${inMs(serverMsPerSecond)} ms of CPU/s`,
    others > SHARE && `others used ${Math.round(others * 100)} % of the machine: the figure is too bad`,
  ]
  console.log(`${name}: ${parts.filter(Boolean).join("; ")}`)
  return result
}

function judge(few, many) {
  const cost = ({ nodeMsPerSecond, serverMsPerSecond }) => nodeMsPerSecond + serverMsPerSecond
  const times = cost(many.same) / cost(few.same)
  const within = many.even.late.p99Ms
  return {
    late: {
      p99Ms: within,
      limitMs: LIMIT_MS,
      aimMs: AIM_MS,
      verdict: atMost(within, { limit: LIMIT_MS, aim: AIM_MS }),
    },
    cost: {
      times,
      commandTimes: many.same.sentPerSecond / few.same.sentPerSecond,
      limit: LIMIT_TIMES,
      verdict: atMost(times, { limit: LIMIT_TIMES }),
    },
  }
}

function print({ many: count, few: small, perSecond, atOnce }, few, many, verdicts) {
  const row = (title, { late, sentPerSecond, nodeMsPerSecond, serverMsPerSecond }) => [
    title,
    ...[late?.p50Ms, late?.p99Ms, late?.mostMs, sentPerSecond, nodeMsPerSecond, serverMsPerSecond].map(
      (value) => (value === undefined ? "" : inMs(value)),
    ),
  ]
  const rows = [
    row(`${thousands(small)} schedules, each every 10 s`, few.same),
    row(`the same beside ${thousands(count - small)} others`, many.same),
    row("each once, evenly", many.even),
    row("each once, on full seconds", many.onTheSecond),
    row("each once, overlap skip", many.skip),
    row("each once, with a worker", many.executed),
    row("each once, beside an old snapshot", many.oldSnapshot),
    row(`${thousands(small)} schedules, idle`, few.idle),
    row(`${thousands(count)} schedules, idle`, many.idle),
  ]
  console.log(
    `\n${thousands(perSecond)} occurrences a second, one process; commands and ms of CPU for each second`,
  )
  console.log(table(["", "median ms", "99 %", "latest", "commands", "Node", "server"], rows))
  const crowds = Object.entries(many.crowd).map(([processes, { seconds, perSecond: rate }]) => [
    `${processes} ${processes === "1" ? "process" : "processes"}`,
    seconds.toFixed(2),
    thousands(rate),
  ])
  console.log(`\n${thousands(atOnce)} due at the same instant`)
  console.log(table(["", "seconds to the last", "a second"], crowds))
  const { late, cost } = verdicts
  console.log(`\n99 % within ${inMs(late.p99Ms)} ms, at the most ${late.limitMs}: ${late.verdict}`)
  console.log(
    `${inMs(cost.times)} times the cost beside a million, at the most ${cost.limit}: ${cost.verdict}`,
  )
}

function inMs(value) {
  return round(value).toLocaleString("en-US")
}

/** As it is kept, without digits that say nothing. */
function rounded(value) {
  if (typeof value === "number") return Number.isInteger(value) ? value : round(value)
  if (Array.isArray(value)) return value.map(rounded)
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rounded(each)]))
}
