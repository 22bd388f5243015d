/** What needs a person, from what the page has read: one sentence, the figures under it, and the page that helps. */
import { plural } from "./numbers.ts"
import type { DeadLetterGroup, Job, Pool, Schedule, Worker } from "./records.ts"
import { pathOf, tenantParams } from "./schedule-view.ts"
import { lengthText } from "./times.ts"

export interface Finding {
  readonly id: string
  readonly tone: "problem" | "warning" | "notice"
  readonly subject: string
  /** What stands before and after the subject. */
  readonly before: string
  readonly after: string
  readonly evidence: string
  readonly since?: string
  readonly action: {
    readonly label: string
    readonly to: string
    readonly params?: Readonly<Record<string, string>>
  }
}

export interface Known {
  readonly pools?: readonly Pool[] | undefined
  readonly jobs?: readonly Job[] | undefined
  readonly groups?: readonly DeadLetterGroup[] | undefined
  readonly schedules?: readonly Schedule[] | undefined
  readonly workers?: readonly Worker[] | undefined
  readonly nowMs: number
}

const LATE_MS = 5 * 60_000
const MOST_GROUPS = 3
const ORDER = { problem: 0, warning: 1, notice: 2 }

/** The most urgent first. */
export function findingsOf(known: Known): readonly Finding[] {
  const found = [
    ...(known.pools ?? []).flatMap((pool) => poolFindings(pool, known.nowMs)),
    ...groupFindings(known.groups ?? []),
    ...(known.schedules ?? []).flatMap(scheduleFindings),
    ...(known.jobs ?? []).flatMap(jobFindings),
    ...workerFindings(known.workers ?? []),
  ]
  return found.toSorted((a, b) => ORDER[a.tone] - ORDER[b.tone])
}

function poolFindings(pool: Pool, nowMs: number): Finding[] {
  const { name, ready, workers, slots, used, oldestDueAt, paused } = pool
  const lateMs = oldestDueAt === undefined ? 0 : Math.max(0, nowMs - Date.parse(oldestDueAt))
  const seeRuns = { to: "runs", params: { state: "ready", filter: `pool:${JSON.stringify(name)}` } }
  if (paused) {
    return [
      {
        id: `pool-paused:${name}`,
        tone: "notice",
        before: "Pool ",
        subject: name,
        after: ` is paused${paused.actor === "" ? "" : ` by ${paused.actor}`}.`,
        evidence: [
          paused.reason && `“${paused.reason}”`,
          plural(pool.parked + ready, "run waits", "runs wait"),
        ]
          .filter(Boolean)
          .join(" · "),
        since: paused.at,
        action: { label: "Open pools", to: "pools" },
      },
    ]
  }
  if (ready > 0 && workers === 0) {
    return [
      {
        id: `pool-unserved:${name}`,
        tone: "problem",
        before: "Pool ",
        subject: name,
        after: ` has ${plural(ready, "run")} due and no worker.`,
        evidence: `oldest ${lengthText(lateMs)} · start a process that serves it`,
        ...(oldestDueAt !== undefined && { since: oldestDueAt }),
        action: { label: "See the runs", ...seeRuns },
      },
    ]
  }
  if (lateMs > LATE_MS) {
    return [
      {
        id: `pool-late:${name}`,
        tone: "warning",
        before: "Runs of pool ",
        subject: name,
        after: ` wait for ${lengthText(lateMs)}.`,
        evidence: `${plural(ready, "run")} due · ${used} of ${slots} slots in use`,
        ...(oldestDueAt !== undefined && { since: oldestDueAt }),
        action: { label: "See the runs", ...seeRuns },
      },
    ]
  }
  return []
}

function groupFindings(groups: readonly DeadLetterGroup[]): Finding[] {
  const open = groups
    .filter(({ state }) => state === "open" || state === "regressed")
    .toSorted((a, b) => b.count - a.count)
  return open
    .slice(0, MOST_GROUPS)
    .map(({ job, fingerprint, count, capped, state, tenants, sample, lastSeen }) => ({
      id: `dead:${job}:${fingerprint}`,
      tone: state === "regressed" ? ("problem" as const) : ("warning" as const),
      before: `${plural(count, "run")}${capped ? " or more" : ""} of `,
      subject: job,
      after: state === "regressed" ? " died again of an error that was resolved." : " died of one error.",
      evidence: [sample?.message, tenants.length > 0 && plural(tenants.length, "tenant")]
        .filter(Boolean)
        .join(" · "),
      ...(lastSeen !== undefined && { since: lastSeen }),
      action: { label: "Open group", to: "dead-letters", params: { job, fingerprint } },
    }))
}

function scheduleFindings(schedule: Schedule): Finding[] {
  const action = { label: "Open schedule", to: pathOf(schedule), params: tenantParams(schedule) }
  if (schedule.state === "error") {
    return [
      {
        id: `schedule-error:${schedule.id}`,
        tone: "problem",
        before: "Schedule ",
        subject: schedule.name,
        after: " is set aside: it cannot fire.",
        evidence: messageOf(schedule.cause),
        since: schedule.changedAt,
        action,
      },
    ]
  }
  if (schedule.state !== "paused" || typeof schedule.cause !== "object" || schedule.cause === null) return []
  if (!("failures" in schedule.cause)) return []
  return [
    {
      id: `schedule-paused:${schedule.id}`,
      tone: "warning",
      before: "Schedule ",
      subject: schedule.name,
      after: " has paused itself after failures.",
      evidence: messageOf(schedule.cause),
      ...(schedule.pausedAt !== undefined && { since: schedule.pausedAt }),
      action,
    },
  ]
}

function messageOf(cause: unknown): string {
  if (typeof cause !== "object" || cause === null) return typeof cause === "string" ? cause : ""
  const { message, reason } = cause as Record<string, unknown>
  return typeof message === "string" ? message : typeof reason === "string" ? reason : ""
}

function jobFindings({ name, paused }: Job): Finding[] {
  if (!paused) return []
  return [
    {
      id: `job-paused:${name}`,
      tone: "notice",
      before: "Job ",
      subject: name,
      after: ` is paused${paused.actor === "" ? "" : ` by ${paused.actor}`}.`,
      evidence: paused.reason === "" ? "no reason given" : `“${paused.reason}”`,
      since: paused.at,
      action: { label: "Open jobs", to: "jobs" },
    },
  ]
}

function workerFindings(workers: readonly Worker[]): Finding[] {
  const versions = new Set(workers.flatMap(({ version }) => version ?? []))
  if (versions.size < 2) return []
  return [
    {
      id: "versions",
      tone: "notice",
      before: "Workers run ",
      subject: `${versions.size} versions`,
      after: " of the code.",
      evidence: [...versions].join(", "),
      action: { label: "Open workers", to: "pools" },
    },
  ]
}
