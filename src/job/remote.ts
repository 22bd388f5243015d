/** A job whose handler is in another program: its stored settings, and no code. */
import { type AnyJob, defineJob } from "./define.ts"
import type { RetryPolicy, RetryWait } from "./options.ts"
import type { StoredSettings } from "./reconcile.ts"

/** An older version may not have stored every setting. Then the default counts. */
export function remoteJob(name: string, stored: StoredSettings): AnyJob {
  const job: AnyJob = defineJob({ name, run: refuse })
  const { timeoutMs } = stored
  return {
    ...job,
    retry: storedRetry(stored["retry"], job.retry),
    timeoutMs: typeof timeoutMs === "number" ? timeoutMs : job.timeoutMs,
  }
}

function refuse(): never {
  throw new Error("The handler of this job is in another program.")
}

/** Functions are not stored. The worker says itself which errors are final, and when to try again. */
function storedRetry(stored: unknown, otherwise: RetryPolicy): RetryPolicy {
  const { attempts, wait } = (stored ?? {}) as { readonly attempts?: unknown; readonly wait?: unknown }
  return {
    attempts: typeof attempts === "number" ? attempts : otherwise.attempts,
    wait: isStoredWait(wait) ? wait : otherwise.wait,
    isFinal: () => false,
  }
}

function isStoredWait(wait: unknown): wait is RetryWait {
  const { kind } = (wait ?? {}) as { readonly kind?: unknown }
  return kind === "exponential" || kind === "fixed" || kind === "list"
}
