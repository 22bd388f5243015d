/**
 * I19: a run that is enqueued in a caller's transaction exists if and only if the rows beside it do.
 *
 * Whatever the transaction came to: committed, rolled back, or unknown.
 */
import { entriesOf, type Facts } from "./facts.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"
import type { EntryOf } from "./operations.ts"

export function transactionalEnqueue(facts: Facts): Judgement {
  const { marks } = facts.read
  const asked = entriesOf(facts.history, "tx_invoke")
  if (marks === null) return judgement("I19", 0)
  const written = new Map(marks.map(({ mark, run }) => [mark, run]))
  const answers = new Map(
    entriesOf(facts.history, "tx_ok", "tx_fail", "tx_info").map((answer) => [answer.mark, answer]),
  )
  const complaints = asked.flatMap((invoke) =>
    complaintsAbout(facts, invoke, {
      writtenFor: written.get(invoke.mark),
      answer: answers.get(invoke.mark),
    }),
  )
  const known = new Set(asked.map(({ mark }) => mark))
  const strangers = marks.filter(({ mark }) => !known.has(mark))
  return judgement("I19", asked.length, [
    ...complaints,
    ...strangers.map(({ mark, run }) => ({
      subject: run,
      says: `Mark ${mark} is there, and no transaction wrote it.`,
    })),
  ])
}

interface Found {
  readonly writtenFor: string | undefined
  readonly answer: EntryOf<"tx_ok" | "tx_fail" | "tx_info"> | undefined
}

function complaintsAbout(
  { byRun }: Facts,
  { run, mark }: EntryOf<"tx_invoke">,
  { writtenFor, answer }: Found,
): Complaint[] {
  const known = byRun.get(run)
  const isRun = known !== undefined && known.live.length + known.rows.length + known.deadLetters.length > 0
  const isMark = writtenFor !== undefined
  const say = (says: string) => [{ subject: run, says: `Run ${run} ${says}` }]
  if (isMark && !isRun) return say(`is nowhere, and mark ${mark} of the same transaction is there.`)
  if (isRun && !isMark) return say(`is there, and mark ${mark} of the same transaction is not.`)
  if (isMark && writtenFor !== run)
    return say(`was enqueued with mark ${mark}, which is there for ${writtenFor}.`)
  if (answer?.op === "tx_ok" && !isRun) return say(`is nowhere, and its transaction was acknowledged.`)
  if (answer?.op === "tx_fail" && isRun) return say(`is there, and its transaction was rolled back.`)
  return []
}
