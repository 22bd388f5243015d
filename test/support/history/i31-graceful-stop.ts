/**
 * I31: a stopped process claims nothing more and starts nothing more, ends in time, and leaves nothing for a reaper.
 *
 * It has given back by itself what it had claimed and did not finish, without a charge (I7). That cannot be asked of
 * a process whose database did not answer: where faults were healed, it is judged for processes that were stopped
 * after that. And of none whose grace is not recorded: earlier calls may still wait for an answer that will not come.
 * A handler that goes on holds the place of its run under a limit for as long as the lease lasts: that does not count
 * as left behind.
 */
import { entriesOf, type Facts, groupBy, type RunFacts } from "./facts.ts"
import { type Complaint, type Judgement, judgement, sayIf } from "./judgement.ts"
import type { Entry, EntryOf } from "./operations.ts"

/** Between the order and the moment it is heard. */
const HEARD_NS = 100_000_000n
/** How long a stop may take beyond its grace: for calls in flight, for the last writes, and to close connections. */
const LAST_WRITES_MS = 15_000

interface Stop {
  readonly invoke: EntryOf<"stop_invoke">
  readonly ok: EntryOf<"stop_ok"> | undefined
  /** Until it was started once more, under another lease. */
  readonly after: readonly Entry[]
  readonly leases: ReadonlySet<string>
}

export function gracefulStop(facts: Facts): Judgement {
  const processes = groupBy(facts.history, ({ pid }) => String(pid))
  const stops = [...processes.values()].flatMap(stopsOf)
  const healedNs = entriesOf(facts.history, "healed").at(-1)?.ns ?? 0n
  return judgement(
    "I31",
    stops.length,
    stops.flatMap((stop) => {
      const { invoke, ok } = stop
      const isUndisturbed = invoke.ns >= healedNs && invoke.graceMs !== undefined && ok !== undefined
      const says = [
        ...complaintsAboutStarts(stop),
        ...complaintsAboutTime(stop),
        ...(isUndisturbed ? complaintsAboutRest(facts, stop) : []),
      ]
      return says.map((each): Complaint => {
        const pid = String(stop.invoke.pid)
        return { subject: pid, says: `Process ${pid} was told to stop, and ${each}` }
      })
    }),
  )
}

function stopsOf(entries: readonly Entry[]): Stop[] {
  const leases = new Set<string>()
  return entries.flatMap((invoke, index) => {
    if (invoke.op === "lease_open") leases.add(invoke.lease)
    if (invoke.op === "lease_lost") leases.delete(invoke.lease)
    if (invoke.op !== "stop_invoke") return []
    const rest = entries.slice(index + 1)
    const end = rest.findIndex(({ op }) => op === "lease_open")
    const after = end < 0 ? rest : rest.slice(0, end)
    const [ok] = entriesOf(after, "stop_ok")
    const lost = new Set(entriesOf(after, "lease_lost").map(({ lease }) => lease))
    return [{ invoke, ok, after, leases: new Set([...leases].filter((lease) => !lost.has(lease))) }]
  })
}

function complaintsAboutStarts({ invoke, ok, after }: Stop): string[] {
  const late = entriesOf(after, "claim", "start").find(
    ({ ns }) => ns > invoke.ns + HEARD_NS || (ok !== undefined && ns > ok.ns),
  )
  return [
    ...sayIf(late !== undefined, () => `took run ${late?.run} after that (claim ${late?.claim}).`),
    ...sayIf(
      entriesOf(after, "claim_sent").some(({ ns }) => ns > invoke.ns + HEARD_NS),
      () => "asked for more runs after that.",
    ),
  ]
}

/** The claims of runs under limits whose handlers had not returned when the process had stopped. */
function heldBeyond({ asked, entries }: RunFacts, stoppedNs: bigint): Set<string> {
  if (!asked.limits?.length) return new Set()
  const begun = entriesOf(entries, "effect").flatMap(({ claim }) => claim ?? [])
  const ended = entriesOf(entries, "end").filter(({ ns }) => ns <= stoppedNs)
  const returned = new Set(ended.map(({ claim }) => claim))
  return new Set(begun.filter((claim) => !returned.has(claim)))
}

function complaintsAboutTime({ invoke, ok }: Stop): string[] {
  if (!ok || invoke.graceMs === undefined) return []
  const tookMs = Number((ok.ns - invoke.ns) / 1_000_000n)
  const { graceMs } = invoke
  return sayIf(
    tookMs > graceMs + LAST_WRITES_MS,
    () => `took ${tookMs} ms for it, with a grace of ${graceMs} ms.`,
  )
}

function complaintsAboutRest({ runs, read, byRun, databaseTime }: Facts, stop: Stop): string[] {
  const { invoke, ok, leases } = stop
  const stoppedAtUs = databaseTime.ofNs(invoke.ns) ?? 0
  const isHeldBeyond = (run: string, claim: string | null) => {
    const facts = byRun.get(run)
    return facts !== undefined && claim !== null && heldBeyond(facts, ok?.ns ?? invoke.ns).has(claim)
  }
  const lost = runs
    .flatMap(({ rows }) => rows)
    .filter(({ outcome, lease }) => outcome === "lost" && lease !== null && leases.has(lease))
    .filter(({ run, claim, finishedAtUs }) => finishedAtUs > stoppedAtUs && !isHeldBeyond(run, claim))
  const held = read.runs
    .filter(({ lease }) => lease !== null && leases.has(lease))
    .filter(({ run, claim }) => !isHeldBeyond(run, claim))
  return [
    ...lost.map(({ run, claim }) => `run ${run} had to be taken back from it (claim ${claim}).`),
    ...held.map(({ run }) => `run ${run} is still held by it.`),
  ]
}
