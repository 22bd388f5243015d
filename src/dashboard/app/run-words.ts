/** Why a run is where it is, in a few words. */
import type { Pool, Run } from "./records.ts"
import { distanceText, lengthText } from "./times.ts"

export interface Why {
  readonly text: string
  readonly tone?: "dead" | "warn"
}

const PARKED: Readonly<Record<NonNullable<Run["parkedFor"]>, string>> = {
  limit: "held by a limit",
  pause: "its job or pool is paused",
  tenant: "its tenant is paused",
  handler: "no worker knows its job",
  hold: "held with its schedule",
}

export function whyOf(run: Run, nowMs: number, pools: readonly Pool[] | undefined): Why {
  switch (run.state) {
    case "waiting":
      return run.attempt > 0
        ? { text: `back-off, tries again ${distanceText(Date.parse(run.dueAt), nowMs)}` }
        : { text: "not due yet" }
    case "parked":
      return { text: run.parkedFor === undefined ? "held" : PARKED[run.parkedFor] }
    case "ready":
      return whyReady(run, pools)
    case "running": {
      const progress = progressText(run.progress)
      return { text: `on ${run.worker ?? "a worker"}${progress === "" ? "" : ` · ${progress}`}` }
    }
    case "succeeded":
      return {
        text: run.attempt > 1 ? `after ${run.attempt - 1} ${run.attempt === 2 ? "retry" : "retries"}` : "",
      }
    case "dead":
      return { text: run.error?.message ?? "failed for good", tone: "dead" }
    case "expired":
      return { text: "not started in time", tone: "warn" }
    case "cancelled":
      return { text: run.error?.message ?? "" }
    default:
      return { text: run.error?.message ?? "" }
  }
}

function whyReady(run: Run, pools: readonly Pool[] | undefined): Why {
  const pool = pools?.find(({ name }) => name === run.pool)
  if (pool?.paused) return { text: `pool ${run.pool} is paused`, tone: "warn" }
  if (pool && pool.workers === 0) return { text: `no worker serves pool ${run.pool}`, tone: "dead" }
  if (pool && pool.slots > 0 && pool.used >= pool.slots)
    return { text: `all ${pool.slots} slots of ${run.pool} are in use` }
  return { text: "next in line" }
}

/** What a handler said, if it can be said in a line. */
export function progressText(progress: unknown): string {
  if (progress === undefined || progress === null) return ""
  return typeof progress === "string" || typeof progress === "number"
    ? String(progress)
    : JSON.stringify(progress)
}

/** How long a run waited for its start: so far, if it is due and has not started. */
export function waitedText(run: Run, nowMs: number): string {
  const dueMs = Date.parse(run.dueAt)
  if (run.startedAt !== undefined) return lengthText(Math.max(0, Date.parse(run.startedAt) - dueMs))
  if (run.state === "ready" || run.state === "parked") return lengthText(Math.max(0, nowMs - dueMs))
  return ""
}
