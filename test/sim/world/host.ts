/** The `Host` of one simulated process: its time, random numbers and ids come from the kernel and from nowhere else. */
import type { CrashPoint } from "../../../src/runtime/crash-points.ts"
import type { Host, Timer } from "../../../src/runtime/host.ts"
import { createIdSource } from "../../../src/runtime/id-source.ts"
import type { Kernel, Owner } from "../kernel/kernel.ts"
import type { Chance } from "../kernel/seeded-random.ts"

/** How the clocks of a process are wrong. */
export interface Skew {
  /** How far its wall clock is off: what its ids are made from. */
  readonly wallMs: number
  /** How fast its monotonic clock runs. */
  readonly speed: number
  /** Where its monotonic clock began. */
  readonly bootMs: number
}

export interface HostParts {
  readonly kernel: Kernel
  readonly owner: Owner
  readonly chance: Chance
  readonly skew: Skew
  readonly pid: number
  /** What the wall clock of a process that is right says, in milliseconds since 1970. */
  readonly wallMs: () => number
  readonly onCrashPoint: (point: CrashPoint) => void
}

/** A timer of the platform fires after a millisecond at the earliest. */
const SHORTEST_TIMER_MS = 1
/** Beyond the end of every simulation. */
const NEVER_MS = 10 * 365 * 86_400_000
/** How long it takes to process everything that has come in meanwhile. */
const LONGEST_SOON_US = 50

export function createSimHost(parts: HostParts): Host {
  const { kernel, owner, chance, skew, pid } = parts
  let soonAtUs = 0

  const after = (ms: number, run: () => void): Timer => {
    if (ms > NEVER_MS) return { cancel: () => {} }
    const us = (Math.max(SHORTEST_TIMER_MS, ms) * 1_000) / skew.speed
    return kernel.after(us + 1, run, owner)
  }

  const newId = createIdSource(
    () => Math.floor(parts.wallMs() + skew.wallMs),
    (bytes) => {
      const view = new DataView(bytes.buffer)
      view.setUint16(0, chance.bits() & 0x3fff)
      view.setUint32(2, chance.bits())
      view.setUint16(6, chance.bits() & 0xffff)
    },
    1,
  )

  return {
    monotonicMs: () => skew.bootMs + (kernel.nowUs() / 1_000) * skew.speed,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const end = () => {
          timer.cancel()
          signal?.removeEventListener("abort", end)
          resolve()
        }
        const timer = after(ms, end)
        signal?.addEventListener("abort", end, { once: true })
      }),
    after,
    every: (ms, run) => {
      let timer: Timer
      const again = () => {
        timer = after(ms, again)
        run()
      }
      timer = after(ms, again)
      return { cancel: () => timer.cancel() }
    },
    // In the order in which they were asked for, as the platform has it.
    soon: (run) => {
      soonAtUs = Math.max(soonAtUs + 1, kernel.nowUs() + chance.between(0, LONGEST_SOON_US))
      kernel.after(soonAtUs - kernel.nowUs(), run, owner)
    },
    newContext: () => (run) => run(),
    random: chance.next,
    randomBits: () => BigInt.asIntN(64, (BigInt(chance.bits()) << 32n) | BigInt(chance.bits())),
    newId,
    crashPoint: (point) => {
      parts.onCrashPoint(point)
      // A dead process goes no further, and a suspended one goes on later.
      if (!owner.isAlive()) return new Promise<void>(() => {})
      if (owner.pausedUntilUs() <= kernel.nowUs()) return undefined
      return new Promise((resolve) => kernel.after(0, resolve, owner))
    },
    exit: () => {},
    print: () => {},
    startThread: () => undefined,
    facts: {
      pid,
      program: "simulated",
      hostname: "sim",
      platform: "linux",
      arch: "x64",
      nodeVersion: "20.19.0",
      zoneData: "2026a",
      user: "simulated",
      uid: 1000,
      cwd: "/",
      tempDir: "/tmp",
      env: {},
    },
  }
}
