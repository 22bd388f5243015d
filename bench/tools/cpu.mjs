/** Who used the processors meanwhile. Read from /proc: only Linux tells, elsewhere every answer is undefined. */
import { readdirSync, readFileSync } from "node:fs"
import { cpus } from "node:os"

/** The unit of /proc on every Linux that Node runs on. */
const TICK_MS = 10

/** Milliseconds that a PostgreSQL server has used, with all its processes, those that have ended included. */
export function serverMs(backendPid) {
  const postmaster = statOf(backendPid)?.parent
  if (postmaster === undefined) return undefined
  for (;;) {
    const { own, ended } = statOf(postmaster)
    const children = childrenOf(postmaster).reduce((sum, pid) => sum + (statOf(pid)?.own ?? 0), 0)
    // One that ended in between stands in neither.
    if (statOf(postmaster).ended === ended) return own + ended + children
  }
}

/** The processes of a PostgreSQL server, by one of its backends. */
export function serverPids(backendPid) {
  const postmaster = statOf(backendPid)?.parent
  return postmaster === undefined ? [] : [postmaster, ...childrenOf(postmaster)]
}

/** Milliseconds that a process has used. */
export function processMs(pid) {
  return statOf(pid)?.own
}

/** Milliseconds that this process and its children that have ended have used. */
export function familyMs() {
  const stat = statOf(process.pid)
  return stat && stat.own + stat.ended
}

/**
 * Milliseconds that all cores together were busy, and that they had. What a virtual machine wanted and did not get
 * counts as busy: another machine had it.
 */
export function machineMs() {
  try {
    const [, ...fields] = readFileSync("/proc/stat", "latin1").split("\n", 1)[0].split(/ +/)
    const [user, nice, system, idle, waiting, irq, softIrq, stolen] = fields.map(
      (ticks) => Number(ticks) * TICK_MS,
    )
    const busy = user + nice + system + irq + softIrq + stolen
    return { busy, all: busy + idle + waiting }
  } catch {
    const times = cpus().map(({ times: core }) => core)
    const busy = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0)
    return { busy, all: times.reduce((sum, { idle }) => sum + idle, busy) }
  }
}

function childrenOf(pid) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && statOf(name)?.parent === pid)
    .map(Number)
}

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The name of the program stands in brackets and may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    const [user, system, childUser, childSystem] = fields
      .slice(11, 15)
      .map((ticks) => Number(ticks) * TICK_MS)
    return { parent: Number(fields[1]), own: user + system, ended: childUser + childSystem }
  } catch {
    // Not Linux, or it has just ended.
    return undefined
  }
}
