/**
 * I27: what is written down about a run, read from the first row to the last, tells what the run is now.
 *
 * Its live row, or its dead letter, has the generation, the number of tries that count and of claims, and the cause that
 * follow from its attempts. From one attempt to the next within a generation, the time of its enqueue stays, and it is due
 * as before if it was given back or lost, and not before its end otherwise.
 */
import { type Facts, hasAudit, type RunFacts } from "./facts.ts"
import type { AttemptRow, LiveRun, Outcome } from "./final-read.ts"
import { type Judgement, judgeRuns, sayIf } from "./judgement.ts"

/** The statement that writes an attempt down reads the clock more than once. */
const GRAIN_US = 100_000
const UNCHANGED: ReadonlySet<Outcome> = new Set<Outcome>(["released", "lost"])
const CAUSES: Readonly<Partial<Record<Outcome, string>>> = {
  failed: "failed",
  timed_out: "failed",
  lost: "lost",
  released: "released",
  snoozed: "snoozed",
}

export function replayable(facts: Facts): Judgement {
  return judgeRuns(facts, "I27", {
    concerns: ({ rows, live }) => rows.length + live.length > 0,
    complain: (run) => [
      ...run.live.flatMap((live) => complaintsAboutLive(run, live)),
      ...complaintsAboutDeadLetters(run),
      ...complaintsAboutSteps(run),
    ],
  })
}

/** What the rows say a run would be if it lived on. */
function folded(rows: readonly AttemptRow[]): Pick<LiveRun, "generation" | "attempt" | "claims" | "cause"> {
  const last = rows.at(-1)
  if (!last) return { generation: 1, attempt: 0, claims: 0, cause: null }
  const claims = rows.filter(({ claim }) => claim !== null).length
  if (last.runState !== null)
    return { generation: last.generation + 1, attempt: 0, claims, cause: "replayed" }
  const own = rows.filter(({ generation }) => generation === last.generation)
  const attempt = own.filter(({ charged }) => charged).length
  return { generation: last.generation, attempt, claims, cause: CAUSES[last.outcome] ?? null }
}

function complaintsAboutLive({ rows }: RunFacts, live: LiveRun): string[] {
  const told = folded(rows)
  const now = { ...told, claims: told.claims + (live.state === "running" ? 1 : 0) }
  const wrong = (["generation", "attempt", "claims", "cause"] as const).filter(
    (field) => live[field] !== now[field],
  )
  return wrong.map((field) => `is live with ${field} ${live[field]}; by its history that is ${now[field]}.`)
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
