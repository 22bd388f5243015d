/**
 * I33: a reader that pages through all runs gets every run that was committed before the first page, once, whatever
 * state it is in and however often that changes meanwhile.
 *
 * A reader that records its begin must have got every run that was acknowledged by then; a reader that does not has
 * begun when everything had ended, and must have got everything. Judged for readers that came to the last page.
 */
import { entriesOf, type Facts, groupBy } from "./facts.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"
import type { EntryOf } from "./operations.ts"

type Reading = EntryOf<"reader_from" | "seen" | "reader_done" | "reader_gone">

/** From the first page to the last. */
interface Pass {
  readonly pid: number
  readonly fromNs: bigint | undefined
  /** How often each run was read. */
  readonly seen: ReadonlyMap<string, number>
}

export function honestReads({ history, runs }: Facts): Judgement {
  const said = entriesOf(history, "reader_from", "seen", "reader_done", "reader_gone")
  const readers = groupBy(said, ({ pid }) => String(pid))
  const passes = [...readers.values()].flatMap(passesOf)
  if (passes.length === 0) return judgement("I33", 0)
  const there = new Set(
    runs.flatMap(({ run, live, rows, deadLetters }) =>
      live.length + rows.length + deadLetters.length > 0 ? run : [],
    ),
  )
  const acknowledged = entriesOf(history, "enq_ok", "settled")
  let judged = 0
  const complaints = passes.flatMap((pass) => {
    const { fromNs } = pass
    const before = acknowledged.filter(({ ns }) => fromNs !== undefined && ns < fromNs)
    const wanted = fromNs === undefined ? there : new Set(before.map(({ run }) => run))
    judged += wanted.size
    return complaintsAbout(pass, wanted, there)
  })
  return judgement("I33", judged, complaints)
}

function passesOf(entries: readonly Reading[]): Pass[] {
  const passes: Pass[] = []
  let fromNs: bigint | undefined
  let seen = new Map<string, number>()
  for (const entry of entries) {
    if (entry.op === "seen") seen.set(entry.run, (seen.get(entry.run) ?? 0) + 1)
    else {
      if (entry.op === "reader_done") passes.push({ pid: entry.pid, fromNs, seen })
      fromNs = entry.op === "reader_from" ? entry.ns : undefined
      seen = new Map()
    }
  }
  return passes
}

function complaintsAbout(
  { pid, seen }: Pass,
  wanted: ReadonlySet<string>,
  there: ReadonlySet<string>,
): Complaint[] {
  const say = (subject: string, says: string) => ({ subject, says: `Reader ${pid} ${says}` })
  return [
    ...[...wanted]
      .filter((run) => !seen.has(run))
      .map((run) => say(run, `has read to the end and was never given run ${run}.`)),
    ...[...seen].flatMap(([run, times]) => {
      if (!there.has(run)) return [say(run, `was given run ${run}, which is not there.`)]
      return times > 1 ? [say(run, `was given run ${run} ${times} times.`)] : []
    }),
  ]
}
