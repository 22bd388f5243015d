import { instant, int, list, nullable, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Records what a process measured of itself, in the row of its lease, and returns the present time.
 *
 * Lists: one entry for each of its pools, in their order.
 * Locks: the lease's row. A dead lease is left alone, and no row is returned.
 */
export const measureWorker = statement({
  name: "workers/measure",
  params: {
    lease: uuid,
    slots: list(int),
    used: list(int),
    delayMs: nullable(int),
    memoryBytes: nullable(whole),
  },
  returns: { at: instant },
  sql: `
  update {workers}
  set slots = @slots, used = @used, delay_ms = @delayMs, memory_bytes = @memoryBytes, measured_at = {now}
  where lease = @lease and not dead
  returning {now} as at
`,
})
