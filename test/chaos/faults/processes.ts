/** Processes that are killed, stopped, starved, or end themselves. */
import type { Fault } from "../fault.ts"

const LEASE_MS = 2_000

const killedWorkers: Fault = {
  id: "F1",
  title: "a worker is killed in the middle of its work",
  strikes: ["kills"],
  inject: async (world, chance, signal) => {
    while (!signal.aborted) {
      await world.rest(chance.between(500, 2_000), signal)
      if (signal.aborted) break
      const victim = chance.pick(world.workers())
      await world.kill(victim)
      world.struck("kills")
      await world.replace(victim)
    }
  },
  expect: (_world, { statistics }) =>
    statistics.lost > 0 ? [] : ["No run was lost with its worker: the kills hit nothing."],
}

const pausedWorkers: Fault = {
  id: "F3",
  title: "a worker sleeps past its lease and wakes up",
  stage: { seconds: (asked) => Math.max(asked, 5) },
  strikes: ["pauses past the lease", "short pauses"],
  inject: async (world, chance, signal) => {
    // The longest-lived one stays awake: somebody has to take over.
    const [, ...sleepers] = world.workers()
    const doze = async (ms: number, what: string) => {
      const sleeper = chance.pick(sleepers)
      await sleeper.call("enqueue", { job: "stubborn", input: { ms: 1_000 }, attempts: 5 })
      sleeper.signal("SIGSTOP")
      try {
        await world.rest(ms)
      } finally {
        sleeper.signal("SIGCONT")
      }
      world.struck(what)
    }
    while (!signal.aborted) {
      await doze(chance.between(100, LEASE_MS / 2), "short pauses")
      await doze(LEASE_MS + chance.between(2_000, 3_000), "pauses past the lease")
    }
  },
  heal: async (world) => {
    for (const worker of world.workers()) worker.signal("SIGCONT")
  },
  expect: (world, { statistics }) => [
    ...(statistics.lost > 0 ? [] : ["No run was taken from a sleeper."]),
    ...(world.heard("lease.lost") > 0 ? [] : ["No sleeper noticed that its lease was lost."]),
  ],
}

export const processes: readonly Fault[] = [killedWorkers, pausedWorkers]
