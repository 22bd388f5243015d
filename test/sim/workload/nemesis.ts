/** The faults of processes and of the database as a whole, at random moments. */
import type { CrashPoint } from "../../../src/runtime/crash-points.ts"
import type { Server } from "../database/server.ts"
import type { Kernel } from "../kernel/kernel.ts"
import type { Chance } from "../kernel/seeded-random.ts"
import type { SimProcess } from "../world/process.ts"
import type { Pen } from "../world/recorder.ts"
import type { Plan } from "./plan.ts"

export interface NemesisParts {
  readonly kernel: Kernel
  readonly chance: Chance
  readonly plan: Plan
  readonly server: Server
  readonly processes: readonly SimProcess[]
  readonly count: (fault: string) => void
  readonly record: Pen
  /** Nothing gets through from these processes for so long. */
  readonly cut: (processes: readonly SimProcess[], us: number) => void
}

export interface Nemesis {
  /** Plans everything that will happen in the faulty phase. */
  readonly unleash: () => void
  /** A process has come to a point where it may die. */
  readonly onCrashPoint: (process: SimProcess, point: CrashPoint) => void
  /** Ends every fault; the dead are started again. */
  readonly heal: () => void
  /** Nothing is started again from now on. */
  readonly end: () => void
  /** How far the database's clock was set back, in all. */
  readonly setBackUs: () => number
}

/** A process with a late result is the most dangerous. */
const sleepinessAt = (point: CrashPoint) => (point === "attempt.ended" ? 3 : 1)

/** Each takes a lease or three, and other faults matter as well. */
const MOST_PAUSES = 4

export function createNemesis(parts: NemesisParts): Nemesis {
  const { kernel, chance, plan, server, processes, count, record, cut } = parts
  const { nemesis, leaseMs, faultyUs } = plan
  const leaseUs = leaseMs * 1_000
  let isHealed = false
  let isOver = false
  let pausesLeft = MOST_PAUSES
  let setBackUs = 0

  function restartLater(process: SimProcess): void {
    kernel.after(chance.skewed(50_000, 3 * leaseUs), () => {
      if (!isOver && !process.isAlive()) process.start()
    })
  }

  function crash(process: SimProcess, why: string): void {
    count("crash")
    process.crash(why)
    restartLater(process)
  }

  const deeds: Readonly<
    Record<Exclude<keyof typeof nemesis, "crashPointRate" | "pausePointRate">, (process: SimProcess) => void>
  > = {
    crashes: (process) => process.isAlive() && crash(process, "killed"),
    pauses: (process) => {
      count("pause past the lease")
      // Mostly until just after others have taken its runs, while these are at work.
      process.pause(leaseUs * (chance.happens(0.6) ? 0.9 + 0.6 * chance.next() : 1 + 2 * chance.next()))
    },
    hiccups: (process) => {
      count("hiccup")
      process.pause(chance.skewed(1_000, leaseUs / 2))
    },
    stops: (process) => {
      if (!process.isAlive() || process.isStopping()) return
      count("stop")
      process.stop(chance.pick([0, 100, 2_000]))
      restartWhenStopped(process)
    },
    cuts: (process) => {
      count("cut")
      cut([process], leaseUs * 2 * chance.next())
    },
    outages: () => {
      count("outage")
      cut(processes, chance.skewed(100_000, 2 * leaseUs))
    },
    restarts: () => {
      count("server restart")
      server.restart()
      cut(processes, chance.skewed(50_000, 2_000_000))
    },
    jumpsForward: () => {
      count("clock forward")
      const us = Math.round(chance.skewed(100_000, 180_000_000))
      kernel.note(`the database's clock is set forward by ${us} µs`)
      record("clock_set", { us })
      server.jump(us)
    },
    jumpsBack: () => {
      count("clock back")
      const us = Math.round(chance.skewed(10_000, 30_000_000))
      kernel.note(`the database's clock is set back by ${us} µs`)
      setBackUs += us
      record("clock_set", { us: -us })
      server.jump(-us)
    },
  }

  function restartWhenStopped(process: SimProcess): void {
    kernel.after(100_000, () => {
      if (process.isAlive() && process.isStopping()) return restartWhenStopped(process)
      if (!process.isAlive()) restartLater(process)
    })
  }

  return {
    unleash: () => {
      for (const [name, deed] of Object.entries(deeds)) {
        const times = nemesis[name as keyof typeof deeds]
        for (let time = 0; time < times; time += 1) {
          kernel.after(chance.between(0, faultyUs), () => {
            if (!isHealed) deed(chance.pick(processes))
          })
        }
      }
    },
    onCrashPoint: (process, point) => {
      if (isHealed) return
      if (chance.happens(nemesis.crashPointRate)) {
        count(`crash at ${point}`)
        crash(process, point)
      } else if (pausesLeft > 0 && chance.happens(nemesis.pausePointRate * sleepinessAt(point))) {
        pausesLeft -= 1
        count(`pause at ${point}`)
        deeds.pauses(process)
      }
    },
    heal: () => {
      isHealed = true
      for (const process of processes) if (!process.isAlive()) process.start()
    },
    end: () => {
      isOver = true
    },
    setBackUs: () => setBackUs,
  }
}
