/** Memory of processes, shared pages divided among those who share them. Only Linux tells. */
import { readFileSync } from "node:fs"

/** Megabytes of all these processes together; undefined elsewhere. */
export function memoryMb(pids) {
  const each = pids.map(proportionalKb)
  return each.includes(undefined) ? undefined : Math.round(each.reduce((sum, kb) => sum + kb, 0) / 1_024)
}

function proportionalKb(pid) {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1])
  } catch {
    return undefined
  }
}
