/** Sections of the parts that measure Carillon alone, or beside itself. */
import { thousands } from "../tools/measure.mjs"
import { figure, measured, table, wrapped } from "./markdown.mjs"

/** How often each expression that is meant to hurt is asked for: see bench/time/worst.mjs. */
const CALLS_EACH = 500

export function millionsSection(read) {
  const results = read("millions")
  const titles = { finished: "finished", future: "in the future as well", ready: "ready as well" }
  const words = results.stages.map(({ stage, count, empty, full, times }) => {
    const us = `${figure(full.claimUs)} us a run instead of ${figure(empty.claimUs)}`
    return `${times} times beside ${thousands(count)} ${titles[stage]} (${us})`
  })
  return wrapped(`The time of a claim: ${words.join(", ")}. ${measured({ millions: results })}`)
}

export function embeddedSection(read) {
  const results = read("embedded")
  const rows = Object.entries(results.figures).map(([engine, each]) => [
    each.title,
    ...["enqueuePerSecond", "executePerSecond", "singlePerSecond", "medianMs", "p99Ms", "peakMb"].map((key) =>
      figure(each[key].median),
    ),
    results.starts[engine]?.cold ?? "",
    results.starts[engine]?.warm ?? "",
  ])
  const head = ["", "enqueued a second", "executed", "one by one, 8 at once", "to the start, ms", "99 %"]
  return [
    table([...head, "peak MB", "first start, ms", "warm start"], rows),
    measured({ embedded: results }),
  ].join("\n\n")
}

/** What other servers and schedules cost beside plain runs on npm's binaries, in a sentence each. */
export function besideSection(read) {
  const [debian, occurrences] = [read("debian"), read("occurrences")]
  const { figures, share, sizes } = debian
  return wrapped(
    `Debian's PostgreSQL ${figures.debian.version.split(" ")[0]} as it comes, with JIT: ` +
      `${thousands(figures.debian.perSecond)} runs a second, ${share.median} of the speed on npm's binaries ` +
      `(${thousands(sizes.count)} runs in turns), and ${figure(figures.debian.resultMs)} ms from enqueue to result ` +
      `(${figure(figures.npm.resultMs)}). Occurrences of default schedules: ` +
      `${thousands(occurrences.perSecond.skip)} a second, ${occurrences.share.skip.median} of plain runs; ` +
      `the aim was ${occurrences.floor}. ${measured({ debian, occurrences })}`,
  )
}

/** All scenarios in a sentence: what is missing in the end, and how the trouble shows meanwhile. */
export function harnessSection(read) {
  const results = read("harness")
  const all = Object.entries(results.results).map(([scenario, { carillon }]) => {
    const [calm, trouble = calm] = carillon.phases.filter(({ name }) => name !== "warmup")
    return { scenario, ...carillon, p99Ms: trouble.claimP99Ms }
  })
  const sum = (key) => all.reduce((total, each) => total + each[key], 0)
  const recovered = all.map((each) => each.recovered).filter((share) => share !== undefined)
  const late = all.filter(({ scenario }) => scenario !== "throughput").sort((a, b) => b.p99Ms - a.p99Ms)
  return wrapped(
    `In ${all.length} scenarios of that harness ${sum("lost")} acknowledged jobs are missing, ` +
      `${sum("left")} are left over, and ${sum("alive")} of ${sum("replicas")} processes are alive at the end. ` +
      `After the trouble the rate is ` +
      `${figure(Math.min(...recovered))} to ${figure(Math.max(...recovered))} of the rate before. ` +
      `During it, 99 % start within ${figure(late[0].p99Ms)} ms in \`${late[0].scenario}\`, ` +
      `within ${figure(late[1].p99Ms)} ms or less in the others. ${measured({ harness: results })}`,
  )
}

export function schedulesSection(read) {
  const results = read("schedules")
  const { many, sizes } = results
  const row = (title, { late, sentPerSecond, nodeMsPerSecond, serverMsPerSecond }) => [
    title,
    ...[late?.p50Ms, late?.p99Ms, late?.mostMs].map(figure),
    ...[sentPerSecond, nodeMsPerSecond, serverMsPerSecond].map(figure),
  ]
  const rows = [
    row(`${thousands(sizes.many)} schedules, each due once, spread evenly`, many.even),
    row("the same with overlap `skip`", many.skip),
    row("the same with a worker that executes them", many.executed),
    row("the same while an old snapshot is held", many.oldSnapshot),
    row(`each due once, ${thousands(sizes.perSecond)} at each full second`, many.onTheSecond),
    row(`nothing due, ${thousands(sizes.many)} schedules`, many.idle),
  ]
  const crowd = Object.entries(many.crowd).map(
    ([processes, { seconds, perSecond }]) =>
      `${seconds.toFixed(1)} s with ${processes === "1" ? "1 process" : processes} (${thousands(perSecond)} a second)`,
  )
  const { cost } = results.verdicts
  const head = [
    "",
    "ms late, median",
    "99 %",
    "latest",
    "commands a second",
    "ms of Node",
    "ms of the server",
  ]
  return [
    table(head, rows),
    wrapped(
      `${thousands(sizes.atOnce)} due at the same instant take ${crowd.join(", ")}. Beside ` +
        `${thousands(sizes.many - sizes.few)} schedules that are not due, the same load costs ` +
        `${figure(cost.times)} times the processor time. ${measured({ schedules: results })}`,
    ),
  ].join("\n\n")
}

export function timeSection(read) {
  const results = read("time")
  const { nexts, previews, worst } = results
  const all = Object.values(nexts).flatMap(({ rows }) => rows)
  const rates = all.map(({ perSecond }) => ({ ours: perSecond.carillon }))
  const most = (key) => figure(Math.max(...worst.rows.map((row) => row[key])))
  const over = worst.rows.reduce((sum, { overLimit }) => sum + overLimit, 0)
  return wrapped(
    `Next occurrences of ${nexts.utc.rows.length} expressions in UTC and New York: ` +
      `${rangeOf(rates, "ours")} a second, ${rangeOf(all, "timesCroner")} times croner and ` +
      `${rangeOf(all, "timesCronParser")} times cron-parser. Previews of 20 occurrences, ` +
      `with words and warnings: ${rangeOf(previews, "previewsPerSecond")} a second, ` +
      `${rangeOf(previews, "timesCroner")} times croner's 20 bare occurrences. ` +
      `Expressions that never fire or are meant to hurt take at most ` +
      `${most("medianMs")} ms in the median and ${most("slowestMs")} ms at the slowest; ` +
      `${over} of ${thousands(worst.rows.length * CALLS_EACH)} calls take longer than 5 ms. ` +
      measured({ time: results }),
  )
}

function rangeOf(rows, key) {
  const values = rows.map((row) => row[key])
  return `${figure(Math.min(...values))} to ${figure(Math.max(...values))}`
}
