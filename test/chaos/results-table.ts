/** The results, as a table for people and as data for programs. */
import type { RowResult } from "./run-row.ts"

const HEADINGS = [
  "fault",
  "what was done",
  "runs",
  "attempts",
  "lost",
  "again",
  "fenced",
  "whole again",
  "judged",
  "result",
]

export function describeRow(row: RowResult): string[] {
  const { id, title, result, done } = row
  if (result === "not yet") return [id, title, "", "", "", "", "", "", "", `not yet (${done})`]
  const numbers = [row.runs, row.attempts, row.lost, row.duplicates, row.fenced].map((each) =>
    String(each ?? "-"),
  )
  const whole = row.recoveredMs === undefined ? "-" : `${(row.recoveredMs / 1_000).toFixed(1)} s`
  return [id, `${title}: ${done}`, ...numbers, whole, ranges(row.judged), `${result} (${row.seconds} s)`]
}

export function table(rows: readonly RowResult[]): string {
  const cells = [HEADINGS, HEADINGS.map(() => "---"), ...rows.map(describeRow)]
  return cells.map((row) => `| ${row.join(" | ")} |`).join("\n")
}

/** As in I1-I9, I24. */
function ranges(judged: readonly string[]): string {
  const numbers = [...new Set(judged.map((name) => Number(name.slice(1))))].sort((a, b) => a - b)
  const parts: { first: number; last: number }[] = []
  for (const number of numbers) {
    const part = parts.at(-1)
    if (part && part.last === number - 1) part.last = number
    else parts.push({ first: number, last: number })
  }
  return parts.map(({ first, last }) => (first === last ? `I${first}` : `I${first}-I${last}`)).join(", ")
}
