/**
 * I12: a schedule never goes back.
 *
 * An observer never sees the cursor of one version of a schedule lower than before, and the final read is not lower
 * than any observer's. Observers are judged one by one: a line is older than the moment of its writing. A later
 * version never turns into an earlier one, unless the schedule was deleted and is another one under the same name.
 */
import { entriesOf, type Facts, groupBy } from "./facts.ts"
import type { ScheduleRow } from "./final-read.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"
import type { EntryOf } from "./operations.ts"

type Seen = EntryOf<"cursor">

export function cursorOnlyGrows({ history, read }: Facts): Judgement {
  const seen = entriesOf(history, "cursor")
  const observed = groupBy(seen, ({ pid, schedule }) => `${pid} ${schedule}`)
  const rows = new Map(read.schedules.map((row) => [row.id, row]))
  return judgement("I12", seen.length, [
    ...[...observed.values()].flatMap(complaintsAboutOrder),
    ...seen.flatMap((each) => complaintsAboutEnd(each, rows.get(each.schedule))),
  ])
}

function complaintsAboutOrder(seen: readonly Seen[]): Complaint[] {
  return seen.flatMap((now, index) => {
    const before = seen[index - 1]
    if (!before) return []
    if (now.version < before.version) {
      return [complaint(now, `went back from version ${before.version} to ${now.version}.`)]
    }
    if (now.version > before.version || now.cursorUs >= before.cursorUs) return []
    return [
      complaint(
        now,
        `went back from ${iso(before.cursorUs)} to ${iso(now.cursorUs)} in version ${now.version}.`,
      ),
    ]
  })
}

function complaintsAboutEnd(seen: Seen, row: ScheduleRow | undefined): Complaint[] {
  if (row?.version !== seen.version || row.cursorUs >= seen.cursorUs) return []
  return [complaint(seen, `was seen at ${iso(seen.cursorUs)}, and is at ${iso(row.cursorUs)} in the end.`)]
}

function complaint({ schedule }: Seen, says: string): Complaint {
  return { subject: schedule, says: `Schedule ${schedule} ${says}` }
}

function iso(us: number): string {
  return new Date(us / 1_000).toISOString()
}
