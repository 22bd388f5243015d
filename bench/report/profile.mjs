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
