/**
 * I33: a reader that pages through history gets every attempt that was committed before the first page, once, however
 * late that was committed.
 *
 * A reader that records its begin must have got every attempt that was acknowledged by then; a reader that does not
 * has begun when everything had ended, and must have got everything. Judged for readers that came to the last page.
 */
import { entriesOf, type Facts, groupBy } from "./facts.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"
import type { EntryOf } from "./operations.ts"

type Reading = EntryOf<"reader_from" | "seen" | "reader_done" | "reader_gone">

/** From the first page to the last. */
interface Pass {
  readonly pid: number
  readonly fromNs: bigint | undefined
  /** How often each attempt was read. */
  readonly seen: ReadonlyMap<string, number>
}

export function honestReads({ history, read }: Facts): Judgement {
  const said = entriesOf(history, "reader_from", "seen", "reader_done", "reader_gone")
  const readers = groupBy(said, ({ pid }) => String(pid))
  const passes = [...readers.values()].flatMap(passesOf)
  if (passes.length === 0) return judgement("I33", 0)
  const written = new Map(read.attempts.map(({ run, claim }) => [nameOf({ run, claim }), run]))
  const settled = entriesOf(history, "settled")
  let judged = 0
  const complaints = passes.flatMap((pass) => {
    const { fromNs } = pass
    const before = settled.filter(({ ns }) => fromNs !== undefined && ns < fromNs)
    const wanted = fromNs === undefined ? written : new Map(before.map((each) => [nameOf(each), each.run]))
    judged += wanted.size
    return complaintsAbout(pass, wanted, written)
  })
  return judgement("I33", judged, complaints)
}

function passesOf(entries: readonly Reading[]): Pass[] {
  const passes: Pass[] = []
  let fromNs: bigint | undefined
  let seen = new Map<string, number>()
  for (const entry of entries) {
    if (entry.op === "seen") seen.set(nameOf(entry), (seen.get(nameOf(entry)) ?? 0) + 1)
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
  wanted: ReadonlyMap<string, string>,
  written: ReadonlyMap<string, string>,
): Complaint[] {
  const say = (subject: string, says: string) => ({ subject, says: `Reader ${pid} ${says}` })
  return [
    ...[...wanted]
      .filter(([name]) => !seen.has(name))
      .map(([name, run]) => say(run, `has read to the end and was never given ${name}.`)),
    ...[...seen].flatMap(([name, times]) => {
      const run = written.get(name)
      if (run === undefined) return [say(name, `was given ${name}, which is not there.`)]
      return times > 1 ? [say(run, `was given ${name} ${times} times.`)] : []
    }),
  ]
}

/** The end of a run without a claim. */
function nameOf({ run, claim }: { readonly run: string; readonly claim: string | null }): string {
  return claim === null || claim === "" ? `the end of run ${run}` : `claim ${claim} of run ${run}`
}
