/** The checks of the calls of workers, and the values that they stand for. */
import { DEFAULTS } from "../../defaults.ts"
import { jobNameCheck, poolNameCheck } from "../../job/options.ts"
import { encodePayload } from "../../job/payload.ts"
import type { HeldRun } from "../../operations/work/heartbeat.ts"
import type { RemoteEnd } from "../../operations/work/settle.ts"
import {
  array,
  assertOptions,
  type Check,
  duration,
  expected,
  integer,
  object,
  oneOf,
  optional,
  satisfies,
} from "../../options/check.ts"
import { recordError } from "../../queue/error-record.ts"
import type { Outcome } from "../../queue/next-state.ts"
import { parseDuration } from "../../time/duration.ts"
import { wordsCheck } from "../actor.ts"
import type { HeldWork, WorkClaimOptions, WorkEnd, WorkHeartbeatOptions, WorkSettleOptions } from "./calls.ts"

const MOST_RUNS = 500
const LONGEST_WAIT_MS = 60_000
const NAME_LENGTH = 200

const text = (length: number) =>
  satisfies(`a text of 1 to ${length} characters`, (value) => {
    if (typeof value !== "string" || value.trim() === "" || value.length > length) return false
    return value.isWellFormed() && !value.includes("\0")
  })
const anything: Check = () => []
const idCheck = satisfies(
  "an id",
  (value) => typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value),
)
const claimCheck = satisfies(
  "the claim of a run, as the claim answered it",
  (value) => typeof value === "string" && /^[0-9a-f]{16}$/.test(value),
)
const leaseFor = optional(duration({ min: 5_000, max: 3_600_000 }))
const flag = optional(satisfies("true or false", (value) => typeof value === "boolean"))

const fewer =
  (most: number, check: Check): Check =>
  (value, path) =>
    Array.isArray(value) && value.length > most
      ? [expected(`at most ${most}`, value, path)]
      : array(check)(value, path)

const workerCheck = object({
  name: text(NAME_LENGTH),
  jobs: fewer(MOST_RUNS, jobNameCheck),
  pools: optional(fewer(MOST_RUNS, poolNameCheck)),
  version: optional(text(100)),
})

const claimOptionsCheck = object({
  lease: optional(idCheck),
  worker: optional(workerCheck),
  limit: optional(integer({ min: 1, max: MOST_RUNS })),
  wait: optional(duration({ min: 0, max: LONGEST_WAIT_MS })),
  leaseFor,
  actor: optional(wordsCheck),
  reason: optional(wordsCheck),
})

const heldCheck = object({ id: idCheck, claim: claimCheck })

const heartbeatCheck = object({
  lease: idCheck,
  runs: optional(fewer(10_000, heldCheck)),
  leaseFor,
  leaving: flag,
})

const endCheck = object({
  id: idCheck,
  claim: claimCheck,
  outcome: oneOf("succeeded", "failed", "timed_out", "cancelled", "snoozed", "released"),
  result: anything,
  error: optional(
    object({
      message: (value, path) => (typeof value === "string" ? [] : [expected("a text", value, path)]),
      code: optional(text(NAME_LENGTH)),
      stack: optional(anything),
    }),
  ),
  retryable: flag,
  retryAfter: optional(duration()),
  snoozeFor: optional(duration()),
  durationMs: optional(integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
})

const settleCheck = object({ lease: idCheck, ends: fewer(MOST_RUNS, endCheck), leaseFor })

export function checkClaim(options: WorkClaimOptions): void {
  assertOptions("work.claim", options, (value, path) => {
    const faults = claimOptionsCheck(value, path)
    if (faults.length > 0) return faults
    const hasOne = (options.lease === undefined) !== (options.worker === undefined)
    return hasOne
      ? []
      : [{ path: "lease", message: "give the lease of an earlier claim, or a `worker` without one" }]
  })
}

export function checkHeartbeat(options: WorkHeartbeatOptions): void {
  assertOptions("work.heartbeat", options, heartbeatCheck)
}

export function checkSettle(options: WorkSettleOptions): void {
  assertOptions("work.settle", options, (value, path) => {
    const faults = settleCheck(value, path)
    if (faults.length > 0) return faults
    const ids = options.ends.map(({ id }) => id)
    return options.ends.flatMap(({ outcome, error, snoozeFor, id }, index) => {
      const place = `ends[${index}]`
      if (outcome === "failed" && error === undefined) return [expected("an error", error, `${place}.error`)]
      if (outcome === "snoozed" && snoozeFor === undefined)
        return [expected("a duration", snoozeFor, `${place}.snoozeFor`)]
      return ids.indexOf(id) < index ? [{ path: `${place}.id`, message: "this run stands here twice" }] : []
    })
  })
}

export function leaseMsOf({ leaseFor }: { readonly leaseFor?: WorkClaimOptions["leaseFor"] }): number {
  return parseDuration(leaseFor) ?? DEFAULTS.leaseMs
}

/** Claims are written as the attempts are named: 16 hexadecimal digits. */
export function heldRun({ id, claim }: HeldWork): HeldRun {
  return { id: id.toLowerCase(), claim: BigInt.asIntN(64, BigInt(`0x${claim}`)) }
}

export function remoteEnd(end: WorkEnd): RemoteEnd {
  return {
    ...heldRun(end),
    outcome: outcomeOf(end),
    durationMs: end.durationMs ?? (end.outcome === "released" ? null : 0),
  }
}

function outcomeOf(end: WorkEnd): Outcome {
  switch (end.outcome) {
    case "succeeded":
      return succeeded(end)
    case "failed":
      return {
        kind: "failed",
        error: errorOf(end, ""),
        retryable: end.retryable ?? true,
        afterMs: parseDuration(end.retryAfter) ?? null,
      }
    case "timed_out":
      return { kind: "timed_out", error: errorOf(end, "the attempt took too long", "ATTEMPT_TIMEOUT") }
    case "cancelled":
      return { kind: "cancelled", error: errorOf(end, "the handler cancelled the run", "RUN_CANCELLED") }
    case "snoozed":
      return { kind: "snoozed", forMs: parseDuration(end.snoozeFor) ?? 0 }
    case "released":
      return { kind: "released" }
  }
}

/** A result that cannot be stored is a failure that no repetition mends. */
function succeeded({ result = null }: WorkEnd): Outcome {
  try {
    return { kind: "succeeded", result: encodePayload(result, "result", DEFAULTS.resultBytes) }
  } catch (error) {
    return { kind: "failed", error: recordError(error), retryable: false }
  }
}

function errorOf({ error }: WorkEnd, otherwise: string, code?: string) {
  const { message = otherwise, stack } = error ?? {}
  const thrown = Object.assign(new Error(message), {
    stack: typeof stack === "string" ? stack : undefined,
    code: error?.code ?? code,
  })
  return recordError(thrown)
}
