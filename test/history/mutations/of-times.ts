/** Faults in when things happen: too early, too late, at once, in another order, by the wrong clock. */
import { entriesOf } from "../../support/history/facts.ts"
import type { AttemptRow } from "../../support/history/final-read.ts"
import { addEntries, editHistory, editRead, editRow, type Mutation, type Scene } from "./edit.ts"

function started({ finalRead }: Scene): (AttemptRow & { readonly startedAtUs: number })[] {
  return finalRead.attempts.flatMap((row) =>
    row.startedAtUs === null ? [] : [row as AttemptRow & { readonly startedAtUs: number }],
  )
}

export const TOO_EARLY: readonly Mutation[] = [
  {
    name: "a run is started before it is due",
    breaks: "I10",
    beside: ["I4", "I14"],
    apply: (scene) => {
      const row = scene.choose(started(scene))
      return row && editRow(scene, row, { startedAtUs: row.dueAtUs - 2_000 })
    },
  },
  {
    name: "a run is due sooner than it was enqueued for",
    breaks: "I10",
    apply: (scene) => {
      const runs = scene.runs.filter(({ rows, asked, schedule }) => rows.length > 0 && asked.job && !schedule)
      const run = scene.choose(runs)
      if (!run) return undefined
      return editHistory(scene, (entry) =>
        entry.op === "enq_invoke" && entry.run === run.run ? { ...entry, delayMs: 60_000 } : entry,
      )
    },
  },
  {
    name: "an occurrence fires before its time",
    breaks: "I10",
    beside: ["I13"],
    apply: (scene) => {
      const fire = scene.choose(scene.finalRead.fires.filter(({ outcome }) => outcome === "fired"))
      if (!fire) return undefined
      const decidedAtUs = fire.occurrenceUs - 1
      const { fires } = scene.finalRead
      return editRead(scene, {
        fires: fires.map((other) => (other === fire ? { ...fire, decidedAtUs } : other)),
      })
    },
  },
]

/** The rows of runs that were enqueued and started in a quiet window. */
function quiet(scene: Scene): AttemptRow[] {
  const [from, to] = entriesOf(scene.history, "quiet_from", "quiet_to")
  return scene.runs.flatMap(({ entries, rows }) => {
    const [invoke] = entriesOf(entries, "enq_invoke")
    const isInside = invoke && from && to && invoke.ns > from.ns && invoke.ns < to.ns
    return isInside ? rows.slice(0, 1) : []
  })
}

export const TOO_LATE: readonly Mutation[] = [
  {
    name: "a run starts late although nothing is broken",
    breaks: "I11",
    apply: (scene) => {
      // Of a few starts, one that is moved would be taken for the right one.
      const row = started(scene).length > 6 ? scene.choose(quiet(scene)) : undefined
      const lateUs = 1_100_000
      const windowed = row && moveQuietEnd(scene, BigInt(lateUs) * 2_000n)
      if (!row?.startedAtUs || !windowed) return undefined
      const { attempts, nowUs } = windowed.finalRead
      const late = { startedAtUs: row.startedAtUs + lateUs, finishedAtUs: row.finishedAtUs + lateUs }
      return editRead(windowed, {
        nowUs: nowUs + 2 * lateUs,
        attempts: attempts.map((other) => (other === row ? { ...row, ...late } : other)),
      })
    },
  },
  {
    name: "runs start later than was allowed for this window",
    breaks: "I11",
    apply: (scene) =>
      quiet(scene).length === 0
        ? undefined
        : editHistory(scene, (entry) => (entry.op === "quiet_from" ? { ...entry, withinMs: 1 } : entry)),
  },
]

function moveQuietEnd(scene: Scene, byNs: bigint) {
  return editHistory(scene, (entry) => (entry.op === "quiet_to" ? { ...entry, ns: entry.ns + byNs } : entry))
}

export const TOO_MANY: readonly Mutation[] = [
  {
    name: "a limit is smaller than what runs under it",
    breaks: "I14",
    apply: (scene) => {
      const narrow = (limits: readonly { readonly key: string; readonly cap: number }[]) =>
        limits.map(({ key }) => ({ key, cap: 0 }))
      const has = scene.runs.some(({ asked, rows }) => (asked.limits ?? []).length > 0 && isLong(rows))
      return has
        ? editHistory(scene, (entry) =>
            entry.op === "enq_invoke" && entry.limits ? { ...entry, limits: narrow(entry.limits) } : entry,
          )
        : undefined
    },
  },
  {
    name: "a third runs under a limit of two",
    breaks: "I14",
    beside: ["I4", "I10", "I16", "I6", "I7", "I8", "I21", "I23", "I27"],
    apply: (scene) => {
      const limited = scene.runs.filter(({ asked }) => (asked.limits ?? []).length > 0)
      const rows = limited.flatMap((run) => run.rows.filter((row) => isLong([row])).slice(0, 1))
      const [first, ...others] = rows
      if (!first?.startedAtUs || others.length < 2) return undefined
      const { startedAtUs, finishedAtUs } = first
      const crowd = new Set(others.slice(0, 2))
      const { attempts } = scene.finalRead
      return editRead(scene, {
        attempts: attempts.map((row) =>
          crowd.has(row)
            ? { ...row, startedAtUs: startedAtUs, finishedAtUs: Math.max(row.finishedAtUs, finishedAtUs) }
            : row,
        ),
      })
    },
  },
  {
    name: "two runs of a schedule that may have one are under way at once",
    breaks: "I14",
    beside: ["I10", "I4"],
    apply: (scene) => {
      const alone = scene.finalRead.schedules.find(
        ({ settings, version }) => settings["overlap"] === "skip" && version === 1,
      )
      const rows = scene.runs.flatMap((run) =>
        run.schedule === alone?.id ? run.rows.filter((row) => isLong([row])).slice(0, 1) : [],
      )
      const [first, second] = rows
      if (!first?.startedAtUs || !second) return undefined
      return editRow(scene, second, { startedAtUs: first.startedAtUs })
    },
  },
]

/** Long enough to be seen. */
function isLong(rows: readonly AttemptRow[]): boolean {
  return rows.some(
    ({ startedAtUs, finishedAtUs }) => startedAtUs !== null && finishedAtUs - startedAtUs > 2_000,
  )
}

export const OUT_OF_ORDER: readonly Mutation[] = [
  {
    name: "one that came later is started first",
    breaks: "I16",
    beside: ["I2"],
    apply: (scene) => {
      const pairs = pairsAlone(scene).filter(([a, b]) => a.priority === b.priority)
      return swapStarts(scene, scene.choose(pairs))
    },
  },
  {
    name: "priorities mean nothing",
    breaks: "I16",
    apply: (scene) => {
      const starts = entriesOf(scene.history, "start")
      const isAlone = new Set(starts.map(({ pid }) => pid)).size === 1
      const asked = scene.runs.flatMap((run) => (run.asked.priority === undefined ? [] : [run.run]))
      const claims = new Set(starts.map(({ claim }) => claim))
      if (!isAlone || asked.length < 20 || claims.size < 3) return undefined
      // The first started run waited least: runs of one claim share the wait, so that no run overtakes.
      const places = new Map([...claims].map((claim, place) => [claim, place]))
      const priorityOf = new Map(starts.map(({ run, claim }) => [run, places.get(claim) ?? 0]))
      return editHistory(scene, (entry) =>
        entry.op === "enq_invoke" ? { ...entry, priority: priorityOf.get(entry.run) ?? 0 } : entry,
      )
    },
  },
]

interface Alone {
  readonly run: string
  readonly priority: number
  readonly ns: bigint
}

/** Where one worker starts everything: each run that was there when it came, with the next one. */
function pairsAlone(scene: Scene): (readonly [Alone, Alone])[] {
  const starts = entriesOf(scene.history, "start")
  const workers = new Set(starts.map(({ pid }) => pid))
  const opened = entriesOf(scene.history, "lease_open").find(({ lease }) => lease === starts[0]?.lease)
  if (workers.size !== 1 || !opened) return []
  const alone = starts.flatMap(({ run, ns }) => {
    const facts = scene.runs.find((each) => each.run === run)
    const [ok] = facts ? entriesOf(facts.entries, "enq_ok") : []
    const [row, ...more] = facts?.rows ?? []
    const isPlain =
      row && more.length === 0 && row.dueAtUs <= row.enqueuedAtUs && !facts?.asked.limits?.length
    return ok && isPlain && ok.ns < opened.ns ? [{ run, ns, priority: facts?.asked.priority ?? 0 }] : []
  })
  return alone.flatMap((one, index) => {
    const next = alone[index + 1]
    return next ? [[one, next] as const] : []
  })
}

function swapStarts(scene: Scene, pair: readonly [Alone, Alone] | undefined) {
  if (!pair) return undefined
  const [one, other] = pair
  const places = new Map([
    [one.run, other.ns],
    [other.run, one.ns],
  ])
  return editHistory(scene, (entry) => {
    const ns = entry.op === "start" ? places.get(entry.run) : undefined
    return ns === undefined ? entry : { ...entry, ns }
  })
}

export const WRONG_WAITS: readonly Mutation[] = [
  {
    name: "a retry does not wait",
    breaks: "I21",
    beside: ["I27"],
    apply: (scene) => {
      const [failure, retry] = scene.choose(retries(scene)) ?? []
      return failure && retry && editRow(scene, retry, { dueAtUs: failure.finishedAtUs })
    },
  },
  {
    name: "a retry waits for longer than was asked for",
    breaks: "I21",
    beside: ["I10", "I27"],
    apply: (scene) => {
      const [, retry] = scene.choose(retries(scene)) ?? []
      return retry && editRow(scene, retry, { dueAtUs: retry.dueAtUs + 200_000 })
    },
  },
  {
    name: "a retry waits for less than was asked for",
    breaks: "I21",
    apply: (scene) => {
      const [failure] = scene.choose(retries(scene)) ?? []
      return (
        failure &&
        editHistory(scene, (entry) =>
          entry.op === "enq_invoke" && entry.run === failure.run
            ? { ...entry, retry: { delayMs: 9_000 } }
            : entry,
        )
      )
    },
  },
]

/** Each failure with the attempt after it. */
function retries({ runs }: Scene): (readonly [AttemptRow, AttemptRow])[] {
  return runs.flatMap(({ rows, asked }) =>
    rows.flatMap((row, index) => {
      const next = rows[index + 1]
      const isRetried = asked.retry && row.outcome === "failed" && row.runState === null
      return isRetried && next ? [[row, next] as const] : []
    }),
  )
}

export const WRONG_CLOCKS: readonly Mutation[] = [
  {
    name: "a start is written down by the clock of its process",
    breaks: "I28",
    beside: ["I10", "I4", "I14", "I11"],
    apply: (scene) => {
      const off = new Map(entriesOf(scene.history, "clock_off").map(({ pid, ms }) => [pid, ms]))
      const wrong = entriesOf(scene.history, "start").flatMap(({ pid, claim, run }) => {
        const ms = off.get(pid)
        const row = started(scene).find((each) => each.claim === claim && each.run === run)
        return row && ms !== undefined ? [{ row, ms }] : []
      })
      // If half of all starts were wrong, no check could tell.
      const isRare = started(scene).length > 2
      const chosen = isRare ? scene.choose(wrong) : undefined
      return chosen && editRow(scene, chosen.row, { startedAtUs: chosen.row.startedAtUs + chosen.ms * 1_000 })
    },
  },
  {
    name: "an attempt ends in the future",
    breaks: "I28",
    beside: ["I4", "I6", "I8", "I14", "I16", "I7", "I21", "I27", "I13", "I18"],
    apply: (scene) => {
      const isWrong = scene.runs.some(({ entries }) =>
        entriesOf(entries, "start").some(({ pid }) => isOff(scene, pid)),
      )
      const last = scene.finalRead.attempts.filter(({ runState }) => runState === "succeeded")
      const row = isWrong ? scene.choose(last) : undefined
      return row && editRow(scene, row, { finishedAtUs: scene.finalRead.nowUs + 3_600_000_000 })
    },
  },
  {
    name: "an enqueue is written down by a clock that is ahead",
    breaks: "I28",
    beside: ["I10", "I11", "I16", "I18", "I27"],
    apply: (scene) => {
      const isWrong = scene.runs.some(({ entries }) =>
        entriesOf(entries, "start").some(({ pid }) => isOff(scene, pid)),
      )
      const row = isWrong ? scene.choose(scene.finalRead.attempts) : undefined
      return row && editRow(scene, row, { enqueuedAtUs: row.finishedAtUs + 1 })
    },
  },
]

function isOff({ history }: Scene, pid: number): boolean {
  return entriesOf(history, "clock_off").some((entry) => entry.pid === pid)
}

export const LATE_NEWS: readonly Mutation[] = [
  {
    name: "a handler is not told that its run was cancelled",
    breaks: "I23",
    apply: (scene) => {
      const told = scene.runs.flatMap(({ entries }) => {
        const [cancel] = entriesOf(entries, "cancel_ok")
        if (!cancel) return []
        const over = new Set(
          entriesOf(entries, "end", "abort", "settled", "fenced", "settle_info")
            .filter(({ ns }) => ns < cancel.ns)
            .map(({ claim }) => claim),
        )
        // One that had begun, was not over, and whose process was there to be told.
        const isThere = ({ pid }: { readonly pid: number }) =>
          scene.history.some((entry) => entry.pid === pid && entry.ns > cancel.ns)
        const starts = entriesOf(entries, "start").filter(
          ({ claim, ns }) => ns < cancel.ns && !over.has(claim),
        )
        return starts.some(isThere) ? [cancel] : []
      })
      const cancel = scene.choose(told)
      if (!cancel) return undefined
      return editHistory(scene, (entry) => (entry === cancel ? { ...entry, withinMs: 0 } : entry))
    },
  },
  {
    name: "a run that was cancelled ends otherwise",
    breaks: "I23",
    beside: ["I1", "I6", "I7", "I20"],
    apply: (scene) => {
      const rows = scene.runs
        .filter(({ audit }) => audit.some(({ action }) => action === "run.cancel"))
        .flatMap((run) => run.rows.filter(({ runState }) => runState === "cancelled"))
      const row = scene.choose(rows)
      return row && editRow(scene, row, { runState: "expired" })
    },
  },
  {
    name: "a run is cancelled and ends all the same",
    breaks: "I23",
    apply: (scene) => {
      const ended = scene.runs.filter(({ rows }) => rows.at(-1)?.runState === "succeeded")
      const run = scene.choose(ended)?.run
      return run === undefined
        ? undefined
        : addEntries(scene, { op: "cancel_invoke", run }, { op: "cancel_ok", run })
    },
  },
]
