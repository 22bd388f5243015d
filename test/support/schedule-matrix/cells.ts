/** Every cell of the matrix, and its expected result: the tables beside this file, put together. */

import { type Cell, type Expected, list, MISFIRES, OPERATIONS, OVERLAPS, PREVIOUS } from "./axes.ts"
import { EXPECTED, type ExpectedDecision, REFUSED, WITHOUT } from "./operation-table.ts"
import { ARRIVALS, type Arrival } from "./overlap-table.ts"
import { BY_HAND } from "./run-now-table.ts"
import { BEFORE, type Standing } from "./untouched-table.ts"

export const CELLS: readonly Cell[] = OPERATIONS.flatMap((operation) =>
  MISFIRES.flatMap((misfire) =>
    OVERLAPS.flatMap((overlap) => PREVIOUS.map((previous) => ({ misfire, overlap, previous, operation }))),
  ),
)

export function expectedOf({ misfire, overlap, previous, operation }: Cell): Expected {
  if (misfire === "all" && overlap in REFUSED) {
    const because = REFUSED[overlap as keyof typeof REFUSED]
    return { refused: "OPTIONS_INVALID", answer: WITHOUT[operation], because }
  }
  const before = BEFORE[overlap][previous]
  const { answer, schedule, decided, because } = EXPECTED[operation]
  if (operation === "run now") {
    const byHand = BY_HAND[overlap][previous]
    return {
      answer: byHand.answer,
      ledger: ledgerOf(before, byHand.rewritten, []),
      live: list(byHand.live),
      schedule,
      starts: list(byHand.starts),
      ends: list(byHand.ends),
      because: `${because}; ${byHand.because}`,
    }
  }
  const chosen = decided?.[misfire]
  if (chosen === undefined || chosen.chosen === "") {
    return {
      answer,
      ledger: ledgerOf(before, undefined, list(chosen?.passed ?? "")),
      live: list(before.live),
      schedule,
      starts: list(before.starts),
      ends: list(before.ends),
      because: [because, chosen?.because].filter((words) => words !== undefined).join("; "),
    }
  }
  return {
    answer,
    schedule,
    ...arrived(before, chosen, ARRIVALS[overlap][previous], operation === "edit of the input"),
    because: `${because}; ${chosen.because}; ${ARRIVALS[overlap][previous].because}`,
  }
}

function arrived(before: Standing, decided: ExpectedDecision, arrival: Arrival, isNewInput: boolean) {
  const { chosen, passed, missed } = decided
  const times = list(chosen)
  // Only a live run shows the settings it was made with.
  const made = `${isNewInput ? " with the new input" : ""}${missed > 0 ? ` missed ${missed}` : ""}`
  const runs = times.map((time) => `${time}${made}`)
  const rewritten = arrival.rewritten?.replace("N", chosen)
  return {
    ledger: ledgerOf(before, rewritten, [...filled(arrival.says, times), ...list(passed)]),
    live: filled(arrival.live, runs),
    starts: filled(arrival.starts, times),
    ends: filled(arrival.ends, times),
  }
}

/** The list with the first of `names` for `N`, and all the others, in their order, for `N+`. */
function filled(text: string, names: readonly string[]): string[] {
  const [first = "", ...others] = names
  return list(text).flatMap((item) => {
    if (/^N\+/.test(item)) return others.map((other) => item.replace("N+", other))
    return [item.replace(/^N\b/, first)]
  })
}

/** In the order of the occurrences; a rewritten entry keeps the place of the old one. */
function ledgerOf(before: Standing, rewritten: string | undefined, more: readonly string[]): string[] {
  const isSame = (entry: string) => rewritten !== undefined && timeOf(entry) === timeOf(rewritten)
  const kept = list(before.ledger).map((entry) => (isSame(entry) ? (rewritten ?? entry) : entry))
  return [...kept, ...more].sort((a, b) => timeOf(a).localeCompare(timeOf(b)))
}

const timeOf = (entry: string): string => entry.slice(0, 5)
