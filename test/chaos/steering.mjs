// What users do to schedules, recorded when it has been answered.

/** Schedules of the standard load that a producer changes all the while. */
const STEERED = {
  "steered-1s": [
    { every: "1s", misfire: "latest" },
    { every: "2s", misfire: "all" },
  ],
  "steered-cron": [
    { cron: "* * * * * *", misfire: "latest", overlap: "allow" },
    { cron: "*/2 * * * * *", misfire: "skip", overlap: "allow" },
  ],
}

export function createSteering({ carillon, jobs, record, by }) {
  const { schedules } = carillon

  async function put({ job = "tick", ...spec }) {
    const { schedule } = await schedules.put({ job: jobs[job], ...spec }, by)
    record("sched_put", { schedule: schedule.name, version: schedule.version })
    return schedule.version
  }

  async function pause({ schedule }) {
    const changed = await schedules.pause(schedule, by)
    record("sched_pause", { schedule })
    return changed
  }

  async function resume({ schedule, ...rest }) {
    const changed = await schedules.resume(schedule, { ...by, ...rest })
    record("sched_resume", { schedule })
    return changed
  }

  return {
    put,
    pause,
    resume,
    /** One of those that are there for it gets other times, is paused or goes on. `random` is in [0, 1). */
    steer: async (random) => {
      const pick = (items) => items[Math.floor(random() * items.length)]
      const [name, times] = pick(Object.entries(STEERED))
      const act = pick([
        () => put({ name, input: {}, ...pick(times) }),
        () => pause({ schedule: name }),
        () => resume({ schedule: name }),
        () => resume({ schedule: name }),
      ])
      await act()
    },
  }
}
