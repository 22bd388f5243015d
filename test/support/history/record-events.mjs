// Turns the events and handlers of a Carillon process into lines of its history.

/** For `carillon.subscribe`. Events come as they happen, so each line is where it belongs. */
export function recordEvents(record) {
  return (event) => {
    switch (event.type) {
      case "worker.started":
        return record("lease_open", { lease: event.lease })
      case "lease.lost":
        return record("lease_lost", { lease: event.lease, because: event.because })
      case "lease.reaped":
        return record("reaped", { leases: event.leases, runs: event.runs })
      case "attempt.started":
        return record("start", { ...fenceOf(event), attempt: event.attempt, lease: event.worker })
      case "attempt.finished":
        return record("settled", { ...fenceOf(event), outcome: event.outcome, runState: event.runState })
      case "attempt.fenced":
        return record("fenced", fenceOf(event))
    }
  }
}

/** A handler that leaves an effect, and records when it was told to stop and when it ended. */
export function recordHandler(record, handler) {
  return async (input, ctx) => {
    const fence = fenceOf({ run: ctx.runId, attemptId: ctx.attemptId })
    const told = () => record("abort", { ...fence, reason: ctx.signal.reason?.code ?? "unknown" })
    ctx.signal.addEventListener("abort", told, { once: true })
    record("effect", { ...fence, key: ctx.idempotencyKey, fence: ctx.fencingToken })
    try {
      const value = await handler(input, ctx)
      record("end", { ...fence, outcome: outcomeOf(value) })
      return value
    } catch (error) {
      const outcome = outcomeOf(error)
      record("end", { ...fence, outcome: outcome === "succeeded" ? "failed" : outcome })
      throw error
    }
  }
}

/** The id of an attempt ends with its claim: 64 bits in hexadecimal, here as PostgreSQL prints them. */
export function claimOf(attemptId) {
  const bits = attemptId.slice(attemptId.lastIndexOf(".") + 1)
  if (!/^[0-9a-f]{16}$/.test(bits)) throw new Error(`${attemptId} is not the id of an attempt`)
  return BigInt.asIntN(64, BigInt(`0x${bits}`)).toString()
}

function fenceOf({ run, attemptId }) {
  return { run, claim: claimOf(attemptId) }
}

const VERDICTS = { retry: "failed", bury: "failed", cancel: "cancelled", snooze: "snoozed" }

/** What a handler returns or throws may be a verdict on its run instead of a result. */
function outcomeOf(value) {
  return value?.[Symbol.for("carillon.verdict")] ? VERDICTS[value.kind] : "succeeded"
}
