/** Control groups of Linux, in which processes get less than they want. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Cgroup {
  readonly add: (pid: number) => void
  readonly read: (file: string) => string
  /** Gives everybody in it back what they had. */
  readonly remove: (pids: readonly number[]) => void
}

const HOME = "/sys/fs/cgroup"

export function lacksCgroup(controller: "cpu" | "memory"): string | undefined {
  const isThere = existsSync(join(HOME, controller, "cgroup.procs"))
  return isThere && process.getuid?.() === 0 ? undefined : `root and the control group "${controller}"`
}

export function makeCgroup(
  controller: "cpu" | "memory",
  settings: Readonly<Record<string, string | number>>,
): Cgroup {
  const folder = join(HOME, controller, `carillon-chaos-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  for (const [name, value] of Object.entries(settings)) writeFileSync(join(folder, name), String(value))
  return {
    add: (pid) => writeFileSync(join(folder, "cgroup.procs"), String(pid)),
    read: (file) => readFileSync(join(folder, file), "utf8"),
    remove: (pids) => {
      for (const pid of pids) {
        try {
          writeFileSync(join(HOME, controller, "cgroup.procs"), String(pid))
        } catch {
          // It has ended meanwhile.
        }
      }
      rmdirSync(folder)
    },
  }
}
