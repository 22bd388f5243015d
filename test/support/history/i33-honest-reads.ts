/**
 * I33: whoever follows history from page to page is given every attempt once, however late it was committed.
 *
 * Judged for readers that have read to the end after everything had ended.
 */
import { entriesOf, type Facts } from "./facts.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"

export function honestReads({ history, read }: Facts): Judgement {
  const readers = new Set(entriesOf(history, "reader_done").map(({ pid }) => pid))
  const written = new Map(read.attempts.map(({ run, claim }) => [nameOf({ run, claim }), run]))
  const seen = new Map<number, Map<string, number>>([...readers].map((pid) => [pid, new Map()]))
  for (const { pid, run, claim } of entriesOf(history, "seen")) {
    const known = seen.get(pid)
    const name = nameOf({ run, claim })
    known?.set(name, (known.get(name) ?? 0) + 1)
  }
  const complaints = [...seen].flatMap(([pid, known]) => complaintsAbout(pid, known, written))
  return judgement("I33", readers.size * written.size, complaints)
}

function complaintsAbout(
  pid: number,
  known: ReadonlyMap<string, number>,
  written: ReadonlyMap<string, string>,
): Complaint[] {
  const say = (subject: string, says: string) => ({ subject, says: `Reader ${pid} ${says}` })
  return [
    ...[...written]
      .filter(([name]) => !known.has(name))
      .map(([name, run]) => say(run, `has read to the end and was never given ${name}.`)),
    ...[...known].flatMap(([name, times]) => {
      const run = written.get(name)
      if (run === undefined) return [say(name, `was given ${name}, which is not there.`)]
      return times > 1 ? [say(run, `was given ${name} ${times} times.`)] : []
    }),
  ]
}

/** The end of a run that nobody had claimed has no claim. */
function nameOf({ run, claim }: { readonly run: string; readonly claim: string | null }): string {
  return claim === null || claim === "" ? `the end of run ${run}` : `claim ${claim} of run ${run}`
}
