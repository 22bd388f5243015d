/** A process that was cut off must not be taken for dead by others that were cut off as well. */
import { violationText } from "../support/history/violation-text.ts"
import type { World } from "./world.ts"

/**
 * After a fault in which no process was killed or suspended. A process that cannot renew its lease for as long as
 * that lasts gives it up, and rightly. But that others take it for dead may happen to one on a busy machine; when it
 * happens to most of them, a process has reaped without having been in touch itself.
 */
export function complaintsAboutExpiry(world: World, blows: number): string[] {
  const workers = world.everybody().filter(({ role }) => role === "worker")
  const lost = workers.flatMap((worker) => worker.said("lease.lost"))
  const reaped = lost.filter(({ because }) => because === "dead").length
  world.struck("leases given up", lost.length - reaped)
  world.struck("leases taken for dead", reaped)
  if (reaped <= Math.max(1, blows / 4)) return []
  return [
    violationText("I24", `${reaped} leases of processes that lived were taken for dead in ${blows} blows.`),
  ]
}
