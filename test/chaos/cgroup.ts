/** Linux control groups, of either version, in which processes get less CPU or memory than they want. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Cgroup {
  readonly add: (pid: number) => void
  readonly read: (file: string) => string
  /** How many of them were killed for lack of memory. */
  readonly kills: () => number
  /** Gives the processes of the group their resources back. */
  readonly remove: (pids: readonly number[]) => void
}

type Controller = "cpu" | "memory"
/** How much of one processor, or how many bytes. */
export type Share = { readonly cpu: number } | { readonly memory: number }

const HOME = "/sys/fs/cgroup"
const PERIOD_US = 100_000

/** Version 1 has a tree for each controller, version 2 one for all of them, in which each has to be delegated. */
function homeOf(controller: Controller): { readonly home: string; readonly version: 1 | 2 } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const own = join(HOME, controller)
  if (existsSync(join(own, "cgroup.procs"))) return { home: own, version: 1 }
  return passesOn(controller) ? { home: HOME, version: 2 } : undefined
}

function passesOn(controller: Controller): boolean {
  const passed = join(HOME, "cgroup.subtree_control")
  const isPassed = () => readFileSync(passed, "utf8").split(/\s+/).includes(controller)
  if (!existsSync(passed)) return false
  try {
    if (!isPassed()) writeFileSync(passed, `+${controller}`)
    return isPassed()
  } catch {
    // The owner of this machine keeps it.
    return false
  }
}

export function lacksCgroup(controller: Controller): string | undefined {
  return homeOf(controller) ? undefined : `root and the control group "${controller}"`
}

function settingsOf(share: Share, version: 1 | 2): Readonly<Record<string, string>> {
  if ("memory" in share) {
    const bytes = String(share.memory)
    return version === 1 ? { "memory.limit_in_bytes": bytes } : { "memory.max": bytes }
  }
  const [quota, period] = [String(Math.round(share.cpu * PERIOD_US)), String(PERIOD_US)]
  return version === 1
    ? { "cpu.cfs_period_us": period, "cpu.cfs_quota_us": quota }
    : { "cpu.max": `${quota} ${period}` }
}

export function makeCgroup(share: Share): Cgroup {
  const controller = "cpu" in share ? "cpu" : "memory"
  const place = homeOf(controller)
  if (!place) throw new Error(`there is no control group "${controller}" here`)
  const folder = join(place.home, `carillon-chaos-${controller}-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  for (const [name, value] of Object.entries(settingsOf(share, place.version)))
    writeFileSync(join(folder, name), value)
  // What does not fit is not to be put elsewhere; not every kernel counts that.
  const swap = join(folder, "memory.swap.max")
  if (controller === "memory" && existsSync(swap)) writeFileSync(swap, "0")
  const origins = new Map<number, string>()
  return {
    add: (pid) => {
      origins.set(pid, place.version === 1 ? place.home : originOf(pid))
      writeFileSync(join(folder, "cgroup.procs"), String(pid))
    },
    read: (file) => readFileSync(join(folder, file), "utf8"),
    kills: () => {
      const file = place.version === 1 ? "memory.oom_control" : "memory.events"
      return Number(/^oom_kill (\d+)/m.exec(readFileSync(join(folder, file), "utf8"))?.[1] ?? 0)
    },
    remove: (pids) => {
      for (const pid of pids) {
        const origin = origins.get(pid)
        if (origin === undefined) continue
        try {
          writeFileSync(join(origin, "cgroup.procs"), String(pid))
        } catch {
          // It has ended meanwhile.
        }
      }
      rmdirSync(folder)
    },
  }
}

/** In version 2 a process may live only where nothing is passed on any more. */
function originOf(pid: number): string {
  const path = /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1] ?? "/"
  return join(HOME, path)
}
