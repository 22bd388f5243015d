/** Where the time goes, as bench/queue/profile.mjs has kept it. */
import { day, figure, table } from "./markdown.mjs"

const MOST_FUNCTIONS = 12
const MOST_STATEMENTS = 6

/** Of one part, for Carillon. */
export function profileSection(part) {
  return (results) => {
    const found = results.parts[part]
    if (found === undefined) return "Not looked at yet."
    const { functions, statements, log, result, settings, allMs } = found
    const each = (ms) => figure((ms * 1_000) / result.count)
    return [
      `\`node bench/queue/profile.mjs carillon ${part}\`, ${day(found.date)}: Carillon ${found.carillon} at ${found.commit}, \`${JSON.stringify(settings)}\`; looking costs time itself.`,
      table(
        ["self time in Node", "us for each run", "%"],
        functions
          .slice(0, MOST_FUNCTIONS)
          .map(([where, ms]) => [`\`${where}\``, each(ms), figure((ms / allMs) * 100)]),
      ),
      table(
        ["statement of the server", "calls", "rows", "us for each run", "WAL MB"],
        statements
          .slice(0, MOST_STATEMENTS)
          .map(({ query, calls, rows, total, wal }) => [
            `\`${query.trim().slice(0, 60)}\``,
            figure(calls),
            figure(rows),
            each(total),
            figure(wal),
          ]),
      ),
      table(
        ["bytes of WAL for each run", "records", "full pages"],
        log.slice(0, MOST_STATEMENTS).map(({ kind, record, fpi }) => [kind, figure(record), figure(fpi)]),
      ),
    ].join("\n\n")
  }
}

/** What a run costs in statements, without and with a snapshot held, by the profiles of these variants. */
const HELD = {
  "snapshot plain": "plain",
  "snapshot plainHeld": "held",
  "delayed delayed": "delayed",
  "delayed delayedHeld": "held",
}
/** By what stands in them: several begin alike. */
const STEPS = {
  insert: /insert into "carillon"\."runs"/,
  "made ready, sweeps included": /^\s*with due as materialized/,
  "claim, sweeps included": /^\s*with taken as/,
  end: /delete from "carillon"\."runs" as run using unnest/,
  "looking for runs that nobody can execute": /with recursive lane \(pool/,
}

export function heldProfilesSection({ parts }) {
  const found = Object.keys(HELD).map((name) => parts[name])
  if (found.includes(undefined)) return "Not looked at yet."
  const totalOf = ({ statements }, pattern) =>
    statements.filter(({ query }) => pattern.test(query)).reduce((sum, { total }) => sum + total, 0)
  const mostOf = ({ statements }, pattern) =>
    Math.max(0, ...statements.filter(({ query }) => pattern.test(query)).map(({ most }) => most))
  const walks = [STEPS["made ready, sweeps included"], STEPS["claim, sweeps included"]]
  const row = (title, of) => [title, ...found.map(of)]
  return [
    `\`node bench/queue/profile.mjs carillon snapshot plain\` and so on, ${day(found[0].date)}: Carillon ${found[0].carillon} at ${found[0].commit}; us of statements for each run.`,
    table(
      ["", ...Object.values(HELD)],
      [
        ...Object.entries(STEPS).map(([title, pattern]) =>
          row(title, (each) => figure((totalOf(each, pattern) * 1_000) / each.result.count)),
        ),
        row("the longest look through everything, ms", (each) =>
          figure(Math.max(...walks.map((pattern) => mostOf(each, pattern)))),
        ),
        row("executed in that minute and a quarter", ({ result }) => figure(result.count)),
      ],
    ),
  ].join("\n\n")
}

/** On which servers the start in the same process was looked at, by their settings. */
const SERVERS = {
  "": "as it is",
  " wal_sync_method=open_datasync":
    "with a log that is opened to be flushed by each write (`wal_sync_method=open_datasync`)",
  " synchronous_commit=off": "with commits that nobody waits for (`synchronous_commit=off`)",
}
const STARTS = {
  "latency sameIdle": "same process, idle",
  "latency sameBusy": "same process, 300 a second",
  "latency otherBusy": "other process, 300 a second",
}

/** Of the start of a run: what another server does to it, and what its statements take. */
export function latencyProfilesSection({ parts }) {
  const onServers = Object.entries(SERVERS).map(([settings, title]) => [
    title,
    ...["latency sameIdle", "latency sameBusy"].flatMap((name) => {
      const found = parts[name + settings]
      return found ? [figure(found.result.medianMs), figure(found.result.p99Ms)] : ["", ""]
    }),
  ])
  const starts = Object.entries(STARTS).filter(([name]) => parts[name])
  if (starts.length === 0) return "Not looked at yet."
  const statements = starts.map(([name, title]) => {
    const { statements: all, functions, allMs } = parts[name]
    const idleMs = functions.find(([where]) => where === "(idle)")?.[1] ?? 0
    const of = (pattern) => all.find(({ query }) => pattern.test(query))
    const cells = [STEPS.insert, STEPS["claim, sweeps included"], STEPS.end].flatMap((pattern) => {
      const found = of(pattern)
      return found ? [figure(found.calls), figure(found.mean)] : ["", ""]
    })
    return [title, ...cells, figure((idleMs / allMs) * 100)]
  })
  const [first] = starts
  const { date, carillon, commit } = parts[first[0]]
  return [
    `\`node bench/queue/profile.mjs carillon latency sameBusy --server synchronous_commit=off\` and so on, ${day(date)}: Carillon ${carillon} at ${commit}; looking costs time itself.`,
    table(
      ["ms to the start, same process", "idle, median", "99 %", "300 a second, median", "99 %"],
      onServers,
    ),
    table(
      ["", "inserts", "ms of the server each", "claims", "ms each", "ends", "ms each", "Node is idle, %"],
      statements,
    ),
  ].join("\n\n")
}
