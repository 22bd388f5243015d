/** graphile-worker: local queue, batched completion, and its SQL function for adding many jobs. */
import { Logger, makeWorkerUtils, run } from "graphile-worker"

/** The statement of its own performance test: the rows that `add_jobs` returns are not sent back. */
const ADD_JOBS = `
  select 1 from graphile_worker.add_jobs(
    array(select json_populate_recordset(null::graphile_worker.job_spec, $1::json))
  ) limit 1`

const DRAIN = { concurrentJobs: 100, localQueue: 2_000, completeDelayMs: 50 }

export const contender = {
  name: "graphile-worker",
  settings: {
    bulk: { batch: 10_000, inFlight: 2 },
    bulkCall: { batch: 1_000, inFlight: 2, addJobs: "library" },
    drain: DRAIN,
    both: { ...DRAIN, inFlight: 1 },
    latency: { concurrentJobs: 24, localQueue: 500, completeDelayMs: 0 },
  },
  tried: {
    bulk: [
      { batch: 1_000, inFlight: 1 },
      { batch: 1_000, inFlight: 2 },
      { batch: 10_000, inFlight: 1 },
      { batch: 10_000, inFlight: 2 },
      { batch: 10_000, inFlight: 3 },
      { batch: 100_000, inFlight: 1 },
    ],
    bulkCall: [
      { batch: 1_000, inFlight: 2, addJobs: "library" },
      { batch: 10_000, inFlight: 1, addJobs: "library" },
      { batch: 10_000, inFlight: 2, addJobs: "library" },
    ],
    drain: [
      { concurrentJobs: 24, localQueue: 500, completeDelayMs: 0 },
      { concurrentJobs: 24, localQueue: 500, completeDelayMs: 250 },
      { concurrentJobs: 100, localQueue: 2_000, completeDelayMs: 50 },
      { concurrentJobs: 100, localQueue: 5_000, completeDelayMs: 50 },
      { concurrentJobs: 500, localQueue: 2_000, completeDelayMs: 50 },
      { concurrentJobs: 1_000, localQueue: 1_000, completeDelayMs: 50 },
    ],
    both: [
      { concurrentJobs: 24, localQueue: 500, completeDelayMs: 0, inFlight: 1 },
      { concurrentJobs: 24, localQueue: 500, completeDelayMs: 50, inFlight: 2 },
      { concurrentJobs: 100, localQueue: 2_000, completeDelayMs: 50, inFlight: 1 },
      { concurrentJobs: 100, localQueue: 2_000, completeDelayMs: 50, inFlight: 2 },
    ],
    latency: [
      { concurrentJobs: 10, localQueue: -1, completeDelayMs: 0 },
      { concurrentJobs: 24, localQueue: 500, completeDelayMs: 0 },
      { concurrentJobs: 10, localQueue: 11, completeDelayMs: 250 },
    ],
  },
  left: "from graphile_worker._private_jobs",
  // It deletes what succeeded: there is no history to count.
  kept: undefined,

  open: async (url, settings) => {
    const logger = new Logger(() => complain)
    const utils = await makeWorkerUtils({ connectionString: url, logger })
    await utils.migrate()
    let runner
    return {
      enqueueMany: async (inputs) => {
        const specs = inputs.map((payload) => ({ identifier: "noop", payload }))
        if (settings.addJobs === "library") await utils.addJobs(specs)
        else await utils.withPgClient((client) => client.query(ADD_JOBS, [JSON.stringify(specs)]))
      },
      enqueue: (input) => utils.addJob("noop", input),
      start: async (onJob) => {
        const preset = { worker: { ...workerOptions(settings), connectionString: url, logger } }
        runner = await run({
          preset,
          noHandleSignals: true,
          taskList: { noop: async (input) => onJob(input) },
        })
      },
      close: async () => {
        await runner?.stop()
        await utils.release()
      },
    }
  },
}

function workerOptions({ concurrentJobs, localQueue, completeDelayMs }) {
  return {
    concurrentJobs,
    // As it asks for. With batching few of them are ever opened.
    maxPoolSize: concurrentJobs + 1,
    localQueue: { size: localQueue },
    completeJobBatchDelay: completeDelayMs,
    failJobBatchDelay: completeDelayMs,
  }
}

function complain(level, message) {
  if (level === "error" || level === "warning") console.error(`graphile-worker: ${message}`)
}
