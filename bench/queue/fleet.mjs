/** The processes of one contender in one place, and what is done with all of them: warm up, drain, count the cost. */
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { NODE } from "../tools/peers.mjs"
import { nowMs, startProcess, unlessEnded } from "../tools/processes.mjs"
import { FULL } from "./sizes.mjs"
import { verifyOnce } from "./tally.mjs"

/** What was executed is written down by then. */
const SETTLE_MS = 60_000
const WORKER = fileURLToPath(new URL("worker.mjs", import.meta.url))

/**
 * Lends `processes` workers and one client, which enqueues and executes nothing. `subject` is { contender, settings,
 * place }. All of them have ended before this resolves.
 */
export async function withFleet(subject, { processes = 1 }, use) {
  const { contender, place } = subject
  const state = { ran: Array(processes).fill(0), firstMs: undefined, timeline: [], onProgress: () => {} }
  const start = (index) =>
    startProcess(WORKER, {
      name: `${contender.title}, process ${index}`,
      node: NODE,
      // graphile-worker reads the first when it is loaded: no line in the log for each job.
      env: { NO_LOG_SUCCESS: "1", NODE_NO_WARNINGS: "1" },
      mostMs: subject.mostMs ?? FULL.childMs,
      onEvent: ({ ran, firstMs }) => {
        state.ran[index] = ran
        state.firstMs = Math.min(state.firstMs ?? firstMs, firstMs)
        state.timeline.push([nowMs(), sum(state.ran)])
        state.onProgress()
      },
    })
  const workers = Array.from({ length: processes }, (_, index) => start(index))
  const client = start("client")
  const open = (each, settings = subject.settings) =>
    each.ask("open", { contender: contender.name, url: place.url, settings })
  /** Those that do what all are told. */
  let active = workers
  /** One after the other: the first of them makes the tables. */
  const openAll = async (settings) => {
    for (const worker of active) await open(worker, settings)
  }
  const all = (question, task) => Promise.all(active.map((worker) => worker.ask(question, task)))
  const fleet = {
    workers,
    client,
    /** From now on only the first so many are at work. */
    use: (count) => {
      active = workers.slice(0, count)
    },
    state,
    open,
    openAll,
    all,
    closeAll: () => all("close"),
    /** Nothing that ran before counts. */
    start: async (task) => {
      state.ran.fill(0)
      state.firstMs = undefined
      state.timeline = []
      await all("start", task)
    },
    /** Enqueues in a session of its own, by the fastest way that there is. */
    fill: async (count, from = 0) => {
      const { bulk, bulkSql = bulk } = contender.settings
      // With BullMQ the one who enqueues decides whether a job is kept.
      await open(client, { ...bulkSql, keep: subject.settings.keep })
      await client.ask("enqueueMany", { ...bulkSql, count, from })
      await client.ask("close")
    },
    /** Resolves when so many have run; not when a process ends before. */
    ran: (count) =>
      unlessEnded(
        workers,
        new Promise((resolve) => {
          state.onProgress = () => sum(state.ran) >= count && resolve()
          state.onProgress()
        }),
      ),
    /** Resolves when so many have run and nothing is left: neither waiting nor executed but not yet written down. */
    drained: async (count) => {
      await fleet.ran(count)
      const untilMs = nowMs() + SETTLE_MS
      while (!(await place.isEmpty())) {
        if (nowMs() > untilMs)
          throw new Error(`void: all have run, and ${await place.left()} are still not done`)
        await sleep(10)
      }
    },
    /** Every job ran exactly once, and where successes are kept, all of them are there. */
    verify: async (count, warmedUp = 0) => {
      await fleet.verifyRan(count)
      await fleet.verifyKept(count, warmedUp)
    },
    verifyKept: async (count, warmedUp) => {
      if (!contender.keepsHistory(subject.settings)) return
      const kept = await place.kept()
      if (kept !== count + warmedUp)
        throw new Error(`void: history holds ${kept - warmedUp} of ${count} jobs`)
    },
    verifyRan: async (count) => {
      const each = await all("ran")
      verifyOnce(
        each.map(({ times }) => times),
        count,
      )
    },
    /** Enqueues and executes some jobs in sessions of their own, so that all code is compiled by then. */
    warmUp: async (count) => {
      // The settings for enqueueing alone say nothing about executing.
      await openAll({ ...contender.settings.drain, ...subject.settings })
      const own = Math.floor(count / 2)
      await fleet.fill(count - own, own)
      await workers[0].ask("enqueueMany", { count: own, batch: 1_000, inFlight: 1 })
      await fleet.start()
      await fleet.drained(count)
      await fleet.closeAll()
    },
    /** `onCosts` encloses what is measured, for those who want to look inside. */
    costs: (work) => costsOf(fleet, { place, ...subject.onCosts }, work),
  }
  try {
    return await use(fleet)
  } finally {
    await Promise.all([...workers, client].map((each) => each.end()))
  }
}

/**
 * Does `work`, which says how many jobs it was about and what else it found, and adds what each of them cost: time of
 * processors hardly depends on what else the machine does. Sessions are closed by then, for all that they did to count.
 */
async function costsOf(fleet, { place, begin, end }, work) {
  const processes = [...fleet.workers, fleet.client]
  const look = async () => {
    const used = await Promise.all(processes.map((each) => each.ask("used")))
    // When those have ended that were at work.
    const counters = await place.counters()
    return { used, ...counters, serverMs: place.cpuMs() }
  }
  await begin?.(fleet.workers)
  const before = await look()
  const { count, serverMb, ...found } = await work()
  const after = await look()
  await end?.(fleet.workers)
  const each = (key) => (after[key] === undefined ? undefined : (after[key] - before[key]) / count)
  const nodeMs = after.used.reduce((total, { cpuMs }, index) => total + cpuMs - before.used[index].cpuMs, 0)
  return {
    ...found,
    count,
    costs: {
      nodeUs: (nodeMs * 1_000) / count,
      serverUs: each("serverMs") * 1_000,
      logBytes: each("logBytes"),
      commits: each("commits"),
      deadTuples: each("deadTuples"),
      peakMb: sum(after.used.slice(0, fleet.workers.length).map(({ peakMb }) => peakMb)),
      serverMb,
    },
  }
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}
