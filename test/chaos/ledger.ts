/** The ledger of a schedule, held against a list of all its occurrences that was made without the product. */

import { violationText } from "../support/history/violation-text.ts"
import { occurrencesOf, type When } from "../support/oracle/occurrences.ts"
import type { World } from "./world.ts"

export interface LedgerEntry {
  readonly first: number
  readonly last: number
  readonly count: number
  readonly outcome: string
  readonly reason: string | null
  readonly decidedMs: number
}

const MOST = 4

export async function readLedger({ talk, schema }: World, name: string): Promise<LedgerEntry[]> {
  const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`
  const rows = await talk.ask(
    `select ${ms("f.occurrence")} as first, ${ms("f.last")} as last, f.count::int as count, f.outcome, f.reason,
       ${ms("f.decided_at")} as "decidedMs"
     from "${schema}".fires as f join "${schema}".schedules as s on s.id = f.schedule
     where s.name = $1 and f.generation > 0 order by f.occurrence`,
    [name],
  )
  return rows as unknown as LedgerEntry[]
}

/** Every occurrence up to where the schedule has come is in the ledger once, and nothing else is. I9. */
export async function complaintsAboutLedger(world: World, name: string, when: When): Promise<string[]> {
  const [row] = await world.talk.ask(
    `select (extract(epoch from created_at) * 1000)::float8 as made,
       (extract(epoch from cursor) * 1000)::float8 as cursor
     from "${world.schema}".schedules where name = $1`,
    [name],
  )
  const cursorMs = Math.floor(Number(row?.["cursor"]))
  const wanted = occurrencesOf(when, Number(row?.["made"]), cursorMs)
  // It may have gone on since.
  const ledger = (await readLedger(world, name)).filter(({ first }) => first <= cursorMs)
  const said: string[] = []
  let at = 0
  for (const { first, last, count, outcome } of ledger) {
    const covered = wanted.slice(at).findIndex((each) => each > last)
    const mine = covered < 0 ? wanted.slice(at) : wanted.slice(at, at + covered)
    if (mine[0] !== first || mine.at(-1) !== last || mine.length !== count) {
      said.push(
        `${name} has ${outcome} ${count} from ${iso(first)} to ${iso(last)}; there are ` +
          `${mine.length}, from ${iso(mine[0])} to ${iso(mine.at(-1))}.`,
      )
    }
    at += mine.length
  }
  if (at < wanted.length) said.push(`${name} has passed ${iso(wanted[at])} and says nothing of it.`)
  if (wanted.length === 0) said.push(`${name} had no occurrence at all.`)
  return said.slice(0, MOST).map((each) => violationText("I9", each))
}

function iso(ms: number | undefined): string {
  return ms === undefined ? "nothing" : new Date(ms).toISOString()
}
