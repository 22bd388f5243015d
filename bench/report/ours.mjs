/** Sections of the parts that measure Carillon alone, or beside itself. */
import { thousands } from "../tools/measure.mjs"
import { figure, origin, spread, table, verdictCell } from "./markdown.mjs"

export function millionsSection(results) {
  const titles = { finished: "finished", future: "in the future as well", ready: "ready as well" }
  const pair = ({ empty, full }, key) =>
    empty[key] === undefined ? ["", ""] : [empty[key], full[key]].map(figure)
  const rows = results.stages.map((stage) => [
    `${thousands(stage.count)} ${titles[stage.stage]}`,
    ...pair(stage, "claimUs"),
    stage.times,
    verdictCell(stage.verdict),
    ...["perSecond", "bulk", "single", "startMs"].flatMap((key) => pair(stage, key)),
  ])
  const head = ["", "us of a claim for each run, alone", "beside them", "times the time", ""]
  const others = [
    "executed a second",
    "enqueued in bulk",
    "one by one, 8 at once",
    "ms to the start, 300 a second",
  ]
  const most = `at most ${results.limit} times the time, aim ${results.aim}`
  return [
    `${origin("millions", results)} Medians of ${results.sizes.rounds} rounds; ${most}.`,
    table([...head, ...others.flatMap((title) => [`${title}, alone`, "beside them"])], rows),
  ].join("\n\n")
}

export function embeddedSection(results) {
  const rows = Object.entries(results.figures).map(([engine, each]) => [
    each.title,
    spread(each.enqueuePerSecond),
    spread(each.executePerSecond),
    spread(each.singlePerSecond),
    spread(each.medianMs),
    spread(each.p99Ms),
    spread(each.peakMb),
    results.starts[engine]?.cold ?? "",
    results.starts[engine]?.warm ?? "",
    verdictCell(each.verdict),
  ])
  const head = [
    "",
    "enqueued a second",
    "executed",
    "one by one, 8 at once, while executing",
    "to start, ms",
    "99 %",
    "peak MB",
    "first start, ms",
    "warm",
    "",
  ]
  return [
    `${origin("embedded", results)} Medians of ${results.sizes.rounds} rounds and ${results.sizes.starts} starts.`,
    table(head, rows),
    `From the start of the process to the first run executed; at the most ${results.limitMs} ms on the embedded server, aim ${results.aimMs}.`,
  ].join("\n\n")
}

export function harnessSection(results) {
  const rows = Object.entries(results.results).flatMap(([scenario, systems]) =>
    Object.entries(systems).flatMap(([system, { phases, lost, left, alive, replicas, recovered, verdict }]) =>
      phases
        .filter(({ name }) => name !== "warmup")
        .map((phase, index) => [
          index === 0 ? `${scenario}, ${system}` : "",
          phase.name,
          figure(phase.enqueueRate),
          figure(phase.completionRate),
          figure(phase.claimP50Ms),
          figure(phase.claimP99Ms),
          figure(phase.depthMost),
          figure(phase.deadTuples),
          index > 0 ? "" : `${lost ?? "?"} missing, ${left} left, ${alive} of ${replicas} alive`,
          index > 0 ? "" : figure(recovered),
          index > 0 ? "" : verdictCell(verdict),
        ]),
    ),
  )
  const head = [
    "",
    "phase",
    "enqueued/s",
    "completed/s",
    "claim p50, ms",
    "p99",
    "depth",
    "dead tuples",
    "at the end",
    "recovery beside baseline",
    "",
  ]
  const inWords = (environment) =>
    `\`${Object.entries(environment)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ")}\``
  const others = Object.entries(results.results).flatMap(([scenario, systems]) => {
    const { env = {} } = Object.values(systems)[0]
    return Object.keys(env).length === 0 ? [] : [`in ${scenario} ${inWords(env)}`]
  })
  const environment = [`Environment: ${inWords(results.environment)}`, ...others].join("; ")
  return [origin("harness", results), table(head, rows), `${environment}.`].join("\n\n")
}

export function claimsBehindSection(results) {
  const rows = results.behind.figures.map(({ title, times, most, verdict }) => [
    title,
    times.toFixed(2),
    most,
    verdictCell(verdict),
  ])
  return [
    origin("claims", results),
    table([`Behind ${thousands(results.count)} runs`, "times slower", "at the most", ""], rows),
  ].join("\n\n")
}

export function claimsLateSection(results) {
  const titles = { commit: "its transaction commits late", expedite: "another process expedites it" }
  const rows = Object.entries(titles).map(([way, title]) => {
    const [heard, silent] = [true, false].map((notices) =>
      results.late.find((each) => each.way === way && each.notices === notices),
    )
    return [
      title,
      Math.round(heard.mostMs),
      heard.limitMs,
      Math.round(silent.mostMs),
      thousands(silent.limitMs),
    ]
  })
  return table(["", "with wake-ups", "at the most", "without any", "at the most"], rows)
}

export function designsSection(results) {
  const head = ["", "insert, us", "claim, us", "end, us", "bytes of WAL for the claim", "for the end"]
  const rows = results.figures.map(({ name, title, insertUs, claimUs, endUs, claimBytes, endBytes }) => [
    `*${name}*: ${title}`,
    spread(insertUs),
    spread(claimUs),
    spread(endUs),
    claimBytes,
    endBytes,
  ])
  const { rounds, batch } = results.sizes
  const how = `Medians of ${rounds} rounds in which the designs take turns, of batches of ${thousands(batch)}.`
  return [`${origin("designs", results)} ${how}`, table(head, rows)].join("\n\n")
}

export function insertsSection({ inserts }) {
  const rows = inserts.map(({ name, title, us, bytes }) => [`*${name}*: ${title}`, spread(us), bytes])
  return table(["", "us of the server for each run", "bytes of WAL"], rows)
}

/** Of runs that are delayed: each step, and all of them together, without and with a snapshot held. */
export function waitsSection({ waits }) {
  const rows = waits.map(({ name, title, insert, ready, claim, end, us, heldUs }) => [
    `*${name}*: ${title}`,
    ...[insert, ready, claim, end].map(figure),
    spread(us),
    spread(heldUs),
  ])
  return table(["us of the server for each run", "insert", "made ready", "claim", "end", "all", "held"], rows)
}

/** In the order of a run's life. */
const ALONE = {
  "insert-one": "written, and waits for whoever claims it",
  "insert-plain": "the same by the statement for lists",
  "hand-off": "written as claimed by its own process",
  "insert-plain, taken": "the same by the statement for lists",
  claim: "claimed",
  complete: "its success written down",
}

export function aloneSection({ alone }) {
  return table(
    ["one run", "us of the server"],
    Object.entries(ALONE).map(([name, title]) => [title, figure(alone[name])]),
  )
}

export function schedulesSection(results) {
  const { few, many, sizes } = results
  const row = (title, { late, sentPerSecond, nodeMsPerSecond, serverMsPerSecond }) => [
    title,
    figure(late?.p50Ms),
    figure(late?.p99Ms),
    figure(late?.mostMs),
    figure(sentPerSecond),
    figure(nodeMsPerSecond),
    figure(serverMsPerSecond),
  ]
  const rows = [
    row(`${thousands(sizes.many)} schedules, each due once, spread evenly`, many.even),
    row("the same with overlap `skip` (parked and admitted)", many.skip),
    row("the same with a worker that executes them", many.executed),
    row("the same while somebody holds an old snapshot", many.oldSnapshot),
    row(`each due once, ${thousands(sizes.perSecond)} at each full second`, many.onTheSecond),
    row(`${thousands(sizes.few)} of them due every 10 s, beside the others`, many.same),
    row(`${thousands(sizes.few)} due every 10 s, and no others`, few.same),
    row(`nothing due, ${thousands(sizes.many)} schedules`, many.idle),
    row(`nothing due, ${thousands(sizes.few)} schedules`, few.idle),
  ]
  const { late, cost } = results.verdicts
  return [
    origin("schedules", results),
    table(["", "median", "99 %", "latest", "commands", "Node", "server"], rows),
    `Of the first line, 99 of 100 have to come within ${late.limitMs} ms, and ${late.aimMs} is the aim: ` +
      `${figure(late.p99Ms)}, ${verdictCell(late.verdict)}. Beside ${thousands(sizes.many - sizes.few)} schedules that are not ` +
      `due, the same load costs ${figure(cost.times)} times the processors (${figure(cost.commandTimes)} times the commands); ` +
      `${cost.limit} is the most: ${verdictCell(cost.verdict)}.`,
  ].join("\n\n")
}

export function crowdSection({ many, sizes }) {
  const each = (ms) => figure((ms * 1_000) / sizes.atOnce)
  const rows = Object.entries(many.crowd).map(([processes, { seconds, perSecond, nodeMs, serverMs }]) => [
    processes === "1" ? "1 process" : `${processes} processes`,
    seconds.toFixed(1),
    thousands(perSecond),
    each(nodeMs),
    each(serverMs),
  ])
  return table(["", "seconds", "a second", "CPU of Node for each, us", "of the server"], rows)
}

export function nextsSection({ nexts }) {
  const zone = (title, { rows }) =>
    table(
      [title, "Carillon", "croner", "cron-parser", "times croner", "times cron-parser"],
      rows.map(({ cron, perSecond, timesCroner, timesCronParser }) => [
        `\`${cron}\``,
        ...Object.values(perSecond).map(figure),
        figure(timesCroner),
        figure(timesCronParser),
      ]),
    )
  return [zone("UTC", nexts.utc), zone("America/New_York", nexts.newYork)].join("\n\n")
}

export function previewsSection({ previews }) {
  const rows = previews.map(({ cron, timeZone, previewsPerSecond, cronerPerSecond, timesCroner }) => [
    `\`${cron}\`, ${timeZone}`,
    figure(previewsPerSecond),
    figure(cronerPerSecond),
    timesCroner,
  ])
  return table(["", "Carillon", "croner", "times croner"], rows)
}

/** Of the two zones the larger. */
export function worstSection({ worst }) {
  const names = [...new Set(worst.rows.map(({ what }) => what))]
  const rows = names.map((name) => {
    const mine = worst.rows.filter(({ what }) => what === name)
    const most = (key) => Math.max(...mine.map((row) => row[key]))
    const over = mine.reduce((sum, { overLimit }) => sum + overLimit, 0)
    const times = ["firstMs", "medianMs", "p99Ms", "slowestMs"].map((key) => most(key).toFixed(2))
    return [name, ...times, `${over} of 1,000`]
  })
  return table(["", "First", "Median", "99 %", "Slowest", "Over 5 ms"], rows)
}
