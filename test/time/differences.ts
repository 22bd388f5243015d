/** Where other libraries read cron differently, found on a fixed grid and sorted by kind. */
import { carillon, PEERS, type Peer, type Reading } from "./other-libraries.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** What they do, and what Carillon does instead. */
export const KINDS = {
  gathers: [
    "moves what a clock set forward skips to the moment of the change",
    "It happens as much later as the clock was moved",
  ],
  drops: ["drops what a clock set forward skips", "It happens as much later as the clock was moved"],
  adds: ["adds a run beside those that were planned", "What falls on the same instant happens once"],
  doubles: [
    "fires on both passes when a clock is set back, though not in every hour of the day",
    "Selected hours happen once, on the first pass",
  ],
  silences: [
    "is silent on the second pass when a clock is set back, though it runs in every hour of the day",
    "What runs in every hour follows elapsed time",
  ],
  misplaces: ["moves runs to other times, or loses them", "The rules hold for any size of change"],
  fails: ["gives up with an error", "There is always a next time, or a proof that there is none"],
  refuses: ["refuses the expression", ""],
  ordinary: ["differs on an ordinary day", ""],
} as const
export type Kind = keyof typeof KINDS

export interface Difference {
  readonly peer: Peer
  readonly kind: Kind
  readonly cron: string
  readonly timeZone: string
  readonly ours: readonly number[]
  readonly theirs: readonly number[]
}

interface ClockCase {
  readonly timeZone: string
  readonly at: number
  /** By how much the clock is moved; 0: an ordinary day. */
  readonly size: number
}

/** Clock changes, and days without one. */
const CLOCKS: readonly ClockCase[] = [
  clock("America/New_York", "2024-03-10T07:00Z", 1),
  clock("America/New_York", "2024-11-03T06:00Z", -1),
  clock("Europe/Berlin", "2026-03-29T01:00Z", 1),
  clock("Europe/Berlin", "2026-10-25T01:00Z", -1),
  clock("Europe/London", "2026-10-25T01:00Z", -1),
  clock("Australia/Lord_Howe", "2024-10-05T15:30Z", 0.5),
  clock("Australia/Lord_Howe", "2024-04-06T15:00Z", -0.5),
  clock("America/Sao_Paulo", "2018-11-04T03:00Z", 1),
  clock("America/Sao_Paulo", "2018-02-18T02:00Z", -1),
  clock("Africa/Cairo", "2024-04-25T22:00Z", 1),
  clock("Africa/Casablanca", "2024-04-14T02:00Z", 1),
  clock("Antarctica/Troll", "2024-03-31T01:00Z", 2),
  clock("Antarctica/Troll", "2024-10-27T01:00Z", -2),
  clock("Pacific/Apia", "2011-12-30T10:00Z", 24),
  clock("UTC", "2026-02-27T00:00Z", 0),
  clock("America/New_York", "2026-02-27T00:00Z", 0),
  clock("Asia/Kathmandu", "2026-06-15T00:00Z", 0),
  clock("Australia/Lord_Howe", "2026-06-15T00:00Z", 0),
]

const CRONS = [
  "0 * * * *",
  "30 * * * *",
  "*/15 * * * *",
  "0 */2 * * *",
  "0 0 * * *",
  "30 0 * * *",
  "0 1 * * *",
  "30 1 * * *",
  "*/30 1 * * *",
  "0 2 * * *",
  "15 2 * * *",
  "30 2 * * *",
  "0,30 2 * * *",
  "30 1-3 * * *",
  "30 2,3 * * *",
  "0 3 * * *",
  "*/20 0-5 * * *",
  "0 10 * * *",
  "0 10 30 * *",
  "0 9 * * 1-5",
  "0 0 1 * *",
  "0 0 1,15 * 1",
  "0 0 L * *",
  "0 12 * * 5L",
  "30 23 * * *",
  "0 30 2 * * *",
]

/** Every disagreement of the grid. */
export function findDifferences(): Difference[] {
  return CLOCKS.flatMap((change) =>
    CRONS.flatMap((cron) => {
      const from = change.at - 6 * HOUR - Math.max(0, change.size) * HOUR
      const to = change.at + 30 * HOUR
      const ours = carillon(cron, change.timeZone, from, to)
      return (["croner", "cron-parser"] as const).flatMap((peer) => {
        const theirs = PEERS[peer](cron, change.timeZone, from, to)
        const kind = kindOf(ours, theirs, change)
        if (kind === undefined) return []
        const times = { ours: ours?.times ?? [], theirs: theirs?.times ?? [] }
        return [{ peer, kind, cron, timeZone: change.timeZone, ...times }]
      })
    }),
  )
}

/** What the other library does and Carillon does not. */
function kindOf(ours: Reading | undefined, theirs: Reading | undefined, change: ClockCase): Kind | undefined {
  if (ours === undefined || theirs === undefined) return "refuses"
  const missing = ours.times.filter((at) => !theirs.times.includes(at))
  const extra = theirs.times.filter((at) => !ours.times.includes(at))
  if (missing.length === 0 && extra.length === 0) return undefined
  if (theirs.failed) return "fails"
  if (change.size === 0) return "ordinary"
  const size = Math.abs(change.size) * HOUR
  const isAfter = (at: number) => at >= change.at && at < change.at + size
  if (change.size > 0) {
    if (missing.length === 0) return "adds"
    if (extra.length === 0) return "drops"
    return extra.every((at) => at === change.at) ? "gathers" : "misplaces"
  }
  if (missing.length === 0) return extra.every(isAfter) ? "doubles" : "adds"
  return extra.length === 0 && missing.every(isAfter) ? "silences" : "misplaces"
}

function clock(timeZone: string, at: string, hours: number): ClockCase {
  return { timeZone, at: Date.parse(at), size: hours }
}

/** Expressions at the borders of the grammar, and the rule by which Carillon reads or refuses them. */
export const SYNTAX: readonly [cron: string, rule: string][] = [
  ["5/15 * * * *", "`n/step` is `n-max/step`"],
  ["*/60 * * * *", "A step wider than its field is an interval that was written wrongly"],
  ["*/90 * * * *", "A step wider than its field is an interval that was written wrongly"],
  ["0 0 */31 * *", "A step wider than its field is an interval that was written wrongly"],
  ["0,0 * * * *", "Saying something twice does no harm"],
  ["0 22-2 * * *", "Ranges do not run backwards"],
  ["0 0 * * fri-sun", "A range of weekdays may end in Sunday"],
  ["0 0 * * 5-0", "A range of weekdays may end in Sunday"],
  ["0 0 * * 7", "7 is Sunday"],
  ["0 0 * * 0,7", "Saying something twice does no harm"],
  ["* * *", "Fields are not filled up"],
  ["* * * *", "Fields are not filled up"],
  ["0 0 30 2 *", "What never fires is refused"],
  ["0 0 31 4,6,9,11 *", "What never fires is refused"],
  ["0 0 L * *", "`L` is the last day of the month"],
  ["0 0 L-3 * *", "`L-n` is so many days before the last"],
  ["0 0 LW * *", "`LW` is the last weekday of the month"],
  ["0 0 15W * *", "`nW` is the weekday nearest to a day"],
  ["0 0 31W * *", "`nW` passes over months without the day"],
  ["0 0 1LW * *", "Before `W` stands one day or `L`"],
  ["0 0 * * 5#3", "`d#n` is the n-th weekday of the month"],
  ["0 0 * * 1#1,1#3", "Rules stand in lists"],
  ["0 0 * * 0#", "After `#` stands a number"],
  ["0 0 * * 5L", "`dL` is the last weekday of its kind"],
  ["0 0 * * 5#L", "`d#L` is the last weekday of its kind"],
  ["0 0 13 * +5", "A `+` asks for both day fields"],
  ["0 0 13 * 5", "Of two day fields either is enough"],
  ["0 0 */2 * 1", "A step is a restriction: either day field is enough"],
  ["0 0 1-31 * 1", "Only a star is no restriction"],
  ["? * * * *", "`?` stands in day fields only"],
  ["0 0 ? * 1", "`?` is a star"],
  ["0 0 0 1 1 * 2030", "A seventh field is the year"],
  ["0 0 1 1 * 2030", "A sixth field is never a year"],
  ["0 0 * january *", "Names have three letters"],
  ["@daily", "Nicknames are known"],
  ["@midnight", "Nicknames are known"],
  ["@reboot", "`@reboot` is not a time"],
  ["0 0 29 2 *", "29 February is found in leap years only"],
]

export interface SyntaxRow {
  readonly cron: string
  readonly rule: string
  readonly ours: string
  readonly theirs: Readonly<Record<Peer, string>>
}

/** The expressions on which the three disagree. Each is tried on two months of ordinary days in UTC. */
export function findSyntaxDifferences(): SyntaxRow[] {
  const from = Date.parse("2027-12-01T00:00Z")
  const told = (found: Reading | undefined, ours: Reading | undefined) => {
    if (found === undefined) return "refused"
    if (ours === undefined) return found.times.length === 0 ? "accepted, never fires" : "accepted"
    return JSON.stringify(found) === JSON.stringify(ours) ? "the same" : "other times"
  }
  return SYNTAX.flatMap(([cron, rule]) => {
    const read = (reader: typeof carillon) =>
      reader(cron, "UTC", from, from + (cron.startsWith("0 0") ? 92 : 1) * DAY)
    const ours = read(carillon)
    const theirs = {
      croner: told(read(PEERS.croner), ours),
      "cron-parser": told(read(PEERS["cron-parser"]), ours),
    }
    const agreed = ours === undefined ? "refused" : "the same"
    if (theirs.croner === agreed && theirs["cron-parser"] === agreed) return []
    return [{ cron, rule, ours: ours === undefined ? "refused" : "read", theirs }]
  })
}

/** How many readings the grid compares. */
export const COMPARED = CLOCKS.length * CRONS.length
