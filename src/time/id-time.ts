/** Reads the time that the id of a run carries. */
import type { InstantMs } from "./instant.ts"

/** Version 7 begins with the time of the enqueue in milliseconds, version 8 with the time of the occurrence. */
const TIMED_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[78]/i

/** 0 if the id holds no time. */
export function idTime(id: string): InstantMs {
  return TIMED_ID.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : 0
}
