/**
 * Memory of processes. Only Linux tells. Shared memory is left out: PostgreSQL's buffers stay mapped from one contender
 * to the next, and would count for the last.
 */
import { readFileSync } from "node:fs"

/** Megabytes of all these processes together; undefined elsewhere. */
export function memoryMb(pids) {
  const each = pids.map(ownKb)
  return each.includes(undefined) ? undefined : Math.round(each.reduce((sum, kb) => sum + kb, 0) / 1_024)
}

function ownKb(pid) {
  try {
    return Number(/^Pss_Anon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1])
  } catch {
    return undefined
  }
}
