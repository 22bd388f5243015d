/**
 * I20: what a handler writes in the transaction that completes its run is there once if the run has succeeded, and
 * not at all otherwise.
 *
 * Judged are jobs whose enqueues say so, and jobs with one run that finished so: then all do.
 */
import { type Facts, groupBy } from "./facts.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"

export function transactionalFinish(facts: Facts): Judgement {
  const { finishes, attempts } = facts.read
  if (finishes === null) return judgement("I20", 0)
  const written = groupBy(finishes, ({ run }) => run)
  const jobs = new Set([
    ...finishes.flatMap(({ run }) => facts.byRun.get(run)?.rows[0]?.job ?? []),
    ...facts.runs.flatMap(({ asked }) => (asked.finishes && asked.job) || []),
  ])
  const succeeded = attempts.filter(({ job, runState }) => runState === "succeeded" && jobs.has(job))
  return judgement("I20", succeeded.length + written.size, [
    ...[...written].flatMap(([run, of]) => complaintsAbout(facts, run, of)),
    ...succeeded
      .filter(({ run }) => !written.has(run))
      .map(({ run }) => ({
        subject: run,
        says: `Run ${run} has succeeded, and what its handler wrote in the same transaction is not there.`,
      })),
  ])
}

function complaintsAbout(
  { byRun }: Facts,
  run: string,
  finishes: readonly { readonly claim: string }[],
): Complaint[] {
  const end = byRun.get(run)?.rows.find(({ runState }) => runState === "succeeded")
  const say = (says: string) => [{ subject: run, says: `Run ${run} ${says}` }]
  const [first] = finishes
  if (finishes.length > 1) return say(`was finished ${finishes.length} times by its handlers; once is all.`)
  if (!end) return say(`was finished by its handler, whose writes are there, and has not succeeded.`)
  if (end.claim === first?.claim) return []
  return say(
    `has succeeded under claim ${end.claim}, and the writes that are there are those of claim ${first?.claim}.`,
  )
}
