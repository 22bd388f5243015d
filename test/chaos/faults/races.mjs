// Jobs that other calls interfere with, and calls that do so; each call answers with its result.
import { recordHandler } from "../../support/history/record-events.mjs"

const { Bury, defineJob } = await import("../../../dist/index.js")
const retry = { attempts: 3, delay: 20 }

export const createJobs = ({ record, rest }) => ({
  raced: defineJob({
    name: "raced",
    retry,
    run: recordHandler(record, async ({ ms = 0, bury = false }, ctx) => {
      if (ms > 0) await rest(ms, ctx.signal)
      // Those that are replayed succeed in the end.
      return bury && ctx.generation < 3 ? Bury("it is no use yet") : process.pid
    }),
  }),
})

export function createCommands({ record, carillon, jobs, asking, by }) {
  const { schedules } = carillon
  /** "done", "nothing" where it made no difference, or the code of the refusal. */
  const outcome = async (call) => {
    try {
      const answer = await call()
      return answer === false || answer === undefined ? "nothing" : "done"
    } catch (error) {
      return error.code ?? `no code: ${error.stack}`
    }
  }
  const yes = async (call) => {
    await call
    return true
  }
  const edit = async (name, changes) => {
    const { version } = await schedules.get(name)
    const changed = await schedules.patch(name, changes, { ...by, version })
    record("sched_put", { schedule: name, version: changed.version })
    return true
  }

  const onRun = {
    cancel: async (run) => {
      record("cancel_invoke", { run })
      const { changed } = await carillon.runs.cancel(run, by)
      if (changed) record("cancel_ok", { run })
      return changed
    },
    expedite: (run) => carillon.runs.expedite(run, { ...by, priority: 3 }),
    replay: (run) => yes(carillon.deadLetters.replay(run, by)),
    discard: (run) => yes(carillon.deadLetters.discard(run, by)),
    pause: () => carillon.jobs.pause("raced", by),
    resume: () => carillon.jobs.resume("raced", by),
    look: async (run) => yes(Promise.all([carillon.runs.get(run), carillon.runs.attempts(run)])),
  }
  const onSchedule = {
    pause: async (name) => {
      const changed = await schedules.pause(name, by)
      record("sched_pause", { schedule: name })
      return changed
    },
    resume: async (name) => {
      const changed = await schedules.resume(name, by)
      record("sched_resume", { schedule: name })
      return changed
    },
    // Times that have instants in common: what was skipped by the old ones may come again by the new ones.
    edit: (name, nonce) =>
      edit(name, { every: nonce % 2 === 0 ? "1s" : "2s", offset: `${(nonce % 3) * 500}ms` }),
    describe: (name, nonce) => edit(name, { tags: [`n${nonce}`] }),
    "run now": (name) => yes(schedules.runNow(name, { ...by, overlap: "allow" })),
    "skip next": async (name) => (await schedules.skipNext(name, by)) !== undefined,
    look: (name) => yes(Promise.all([schedules.get(name), schedules.fires(name), schedules.planned(name)])),
  }

  return {
    raceRun: ({ what, run }) => outcome(() => onRun[what](run)),
    raceSchedule: ({ what, name, nonce }) => outcome(() => onSchedule[what](name, nonce)),
    raced: async ({ input, settings }) => {
      const handles = await asking.ask({ job: "raced", attempts: 3, retry: { delayMs: 20 } }, () =>
        carillon.enqueue(jobs.raced, input, settings),
      )
      return handles?.[0].id
    },
    /** Adds one to what its input says, again and again, each time to what it has read; says how often it could. */
    editOn: async ({ name, forMs }) => {
      let [edited, refused] = [0, 0]
      for (const untilMs = performance.now() + forMs; performance.now() < untilMs; ) {
        const { version, input } = await schedules.get(name)
        const came = await outcome(async () => {
          const changed = await schedules.patch(name, { input: { n: input.n + 1 } }, { ...by, version })
          record("sched_put", { schedule: name, version: changed.version })
          return true
        })
        if (came === "done") edited += 1
        else if (came === "SCHEDULE_CHANGED") refused += 1
        else throw new Error(`an edit was answered with ${came}`)
      }
      return { edited, refused }
    },
  }
}
