/** A process in which long rests take no time: its clock moves on by them, and it records each. */
import type { Host } from "../../src/runtime/host.ts"
import { createSystemHost } from "../../src/runtime/system.ts"

export interface FastForwardHost extends Host {
  /** The length of each long rest. */
  readonly rests: readonly number[]
}

/** Shorter rests are real: they let other code make progress. */
const LONG_MS = 500

export function createFastForwardHost(): FastForwardHost {
  const host = createSystemHost()
  const rests: number[] = []
  let skippedMs = 0
  return {
    ...host,
    rests,
    monotonicMs: () => host.monotonicMs() + skippedMs,
    sleep: async (ms, signal) => {
      if (ms < LONG_MS || signal) return host.sleep(ms, signal)
      rests.push(ms)
      skippedMs += ms
    },
  }
}
