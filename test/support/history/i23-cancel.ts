/**
 * I23: a run that was cancelled ends as cancelled and in no other way, and is not retried.
 *
 * A late result of its handler does not count. Where the history says how soon, the handler is told by then, unless
 * its process was not there to be told.
 */
import { aboutEachRun, entriesOf, type Facts, hasAudit, type RunFacts } from "./facts.ts"
import { type Judgement, judgement } from "./judgement.ts"

export function cancelled(facts: Facts): Judgement {
  const runs = facts.runs.filter(
    (run) => hasAudit(run, "run.cancel") || entriesOf(run.entries, "cancel_ok").length > 0,
  )
  const lastWords = new Map(facts.history.map(({ pid, ns }) => [pid, ns]))
  return judgement(
    "I23",
    runs.length,
    aboutEachRun({ runs }, (run) => [
      ...complaintsAboutEnd(run),
      ...complaintsAboutTries(run),
      ...complaintsAboutNotice(run, lastWords),
    ]),
  )
}

function complaintsAboutEnd({ rows, live }: RunFacts): string[] {
  const left = live.find(({ state }) => state !== "running")
  if (left) return [`was cancelled and is ${left.state}.`]
  const end = rows.findLast(({ runState }) => runState !== null)
  if (live.length > 0 || !end || end.runState === "cancelled") return []
  return [`was cancelled, and has ended as ${end.runState}.`]
}

/**
 * The worker that held the run at the cancel may write one more row, and that is its end. A run without a worker has
 * ended at once: I6 judges what comes after an end. A settle that was answered before the cancel was sent came before
 * it, also where a clock that was set back says otherwise.
 */
function complaintsAboutTries({ rows, audit, entries }: RunFacts): string[] {
  const cancel = audit.find(({ action }) => action === "run.cancel")
  if (!cancel || (cancel.before?.state ?? "running") !== "running") return []
  const { atUs } = cancel
  const askedNs = whenAsked(entries)
  const earlier = new Set(
    entriesOf(entries, "settled")
      .filter(({ ns }) => ns < askedNs)
      .map(({ claim }) => claim),
  )
  return rows
    .filter(({ finishedAtUs, runState }) => finishedAtUs > atUs && runState === null)
    .filter(({ claim }) => claim === null || !earlier.has(claim))
    .map(({ attempt, outcome }) => `went on after it was cancelled: attempt ${attempt} was ${outcome}.`)
}

/** When the effective cancel was sent, where its answer came: others may have failed. */
function whenAsked(entries: RunFacts["entries"]): bigint {
  const asked = entriesOf(entries, "cancel_invoke")
  const [ok] = entriesOf(entries, "cancel_ok")
  const answered = ok && asked.findLast(({ pid, ns }) => pid === ok.pid && ns < ok.ns)
  return (answered ?? asked[0])?.ns ?? 0n
}

function complaintsAboutNotice({ entries }: RunFacts, lastWords: ReadonlyMap<number, bigint>): string[] {
  const cancel = entriesOf(entries, "cancel_ok").find(({ withinMs }) => withinMs !== undefined)
  if (!cancel) return []
  const byNs = cancel.ns + BigInt(Math.round((cancel.withinMs ?? 0) * 1_000_000))
  const told = new Set(
    entriesOf(entries, "abort", "end", "settled", "fenced", "settle_info")
      .filter(({ ns }) => ns <= byNs)
      .map(({ claim }) => claim),
  )
  return entriesOf(entries, "start")
    .filter(({ ns, claim, pid }) => ns < cancel.ns && !told.has(claim) && (lastWords.get(pid) ?? 0n) > byNs)
    .map(
      ({ pid }) => `was cancelled, and process ${pid} had not told its handler ${cancel.withinMs} ms later.`,
    )
}
