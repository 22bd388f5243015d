/**
 * I27: the rows about a run, read from the first to the last, add up to what the run is now.
 *
 * Its live row, at the end and in every observation, or its dead letter, has the generation, the charged attempts,
 * the claims and the cause that follow from its attempts. From one attempt to the next within a generation, its
 * enqueue time stays, and it is due as before if it was given back or lost, and not before its end otherwise.
 */
import { entriesOf, type Facts, hasAudit, type RunFacts } from "./facts.ts"
import type { AttemptRow, Outcome } from "./final-read.ts"
import { type Judgement, judgeRuns, sayIf } from "./judgement.ts"
import type { Standing } from "./operations.ts"

/** The statement that writes an attempt reads the clock more than once. */
const GRAIN_US = 100_000
const UNCHANGED: ReadonlySet<Outcome> = new Set<Outcome>(["released", "lost"])
const CAUSES: Readonly<Record<string, string>> = {
  failed: "failed",
  timed_out: "failed",
  lost: "lost",
  released: "released",
  snoozed: "snoozed",
}

export function replayable(facts: Facts): Judgement {
  return judgeRuns(facts, "I27", {
    concerns: ({ rows, live }) => rows.length + live.length > 0,
    isEvidence: ({ entries, rows, live, deadLetters }) =>
      rows.length > 1 || deadLetters.length + live.length + entriesOf(entries, "standing").length > 0,
    complain: (run) => [
      ...run.live.flatMap(({ cause, ...live }) =>
        complaintsAboutLive({ ...live, rows: run.rows, ...(cause !== null && { cause }) }),
      ),
      ...new Set(entriesOf(run.entries, "standing").flatMap(complaintsAboutLive)),
      ...complaintsAboutDeadLetters(run),
      ...complaintsAboutSteps(run),
    ],
  })
}

/** What the rows say a run would be if it lived on. */
function folded(rows: Standing["rows"]): Omit<Standing, "state" | "rows"> {
  const last = rows.at(-1)
  if (!last) return { generation: 1, attempt: 0, claims: 0 }
  const claims = rows.filter(({ claim }) => claim !== null).length
  if (last.runState !== null)
    return { generation: last.generation + 1, attempt: 0, claims, cause: "replayed" }
  const own = rows.filter(({ generation }) => generation === last.generation)
  const attempt = own.filter(({ charged }) => charged).length
  const cause = CAUSES[last.outcome]
  return { generation: last.generation, attempt, claims, ...(cause !== undefined && { cause }) }
}

function complaintsAboutLive({ rows, ...live }: Standing): string[] {
  const told = folded(rows)
  const now = { ...told, claims: told.claims + (live.state === "running" ? 1 : 0) }
  const wrong = (["generation", "attempt", "claims", "cause"] as const).filter(
    (field) => live[field] !== now[field],
  )
  return wrong.map(
    (field) =>
      `is live with ${field} ${live[field] ?? "none"}; by its history that is ${now[field] ?? "none"}.`,
  )
}

function complaintsAboutDeadLetters({ rows, deadLetters }: RunFacts): string[] {
  const claims = rows.filter(({ claim }) => claim !== null).length
  return deadLetters.flatMap((letter) =>
    sayIf(
      letter.claims !== claims,
      () => `was claimed ${letter.claims} times by its dead letter, and ${claims} times by its history.`,
    ),
  )
}

function complaintsAboutSteps(run: RunFacts): string[] {
  if (hasAudit(run, "run.expedite")) return []
  return run.rows.flatMap((row, index) => {
    const before = run.rows[index - 1]
    if (!before || before.generation !== row.generation || before.runState !== null) return []
    const isSame = UNCHANGED.has(before.outcome)
    const isDueWrong = isSame ? row.dueAtUs !== before.dueAtUs : row.dueAtUs < before.finishedAtUs - GRAIN_US
    const due = isSame
      ? "is due at another time than before"
      : "was due before the attempt before it had ended"
    return [
      ...sayIf(
        row.enqueuedAtUs !== before.enqueuedAtUs,
        () => `${nameOf(row)} tells another enqueue than before.`,
      ),
      ...sayIf(isDueWrong, () => `${nameOf(row)} ${due}, which was ${before.outcome}.`),
    ]
  })
}

function nameOf({ attempt, claim }: AttemptRow): string {
  return `has an attempt ${attempt} (claim ${claim}) that`
}
