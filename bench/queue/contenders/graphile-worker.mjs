/** graphile-worker: local queue, batched completion, and its SQL function for adding many jobs. */
/** The statement of its own performance test: the rows that `add_jobs` returns are not sent back. */
const ADD_JOBS = `
  select 1 from graphile_worker.add_jobs(
    array(select json_populate_recordset(null::graphile_worker.job_spec, $1::json))
  ) limit 1`

const DRAIN = { concurrentJobs: 100, localQueue: 5_000, completeDelayMs: 50 }
/** By SQL, which is faster than its call. */
const BOTH = { ...DRAIN, batch: 1_000, inFlight: 1, sql: true }

export const contender = {
  title: "graphile-worker",
  package: "graphile-worker",
  on: "postgres",
  settings: {
    bulk: { batch: 1_000, inFlight: 2 },
    bulkSql: { batch: 10_000, inFlight: 2, sql: true },
    single: { connections: 10 },
    drain: DRAIN,
    sleep: { concurrentJobs: 10, localQueue: 500, completeDelayMs: 0 },
    both: BOTH,
    delayed: { ...BOTH, pollMs: 100 },
    latency: { concurrentJobs: 24, localQueue: 500, completeDelayMs: 0 },
  },
  tried: {
    bulk: [
      { batch: 1_000, inFlight: 1 },
      { batch: 1_000, inFlight: 2 },
      { batch: 1_000, inFlight: 3 },
      { batch: 10_000, inFlight: 1 },
      { batch: 10_000, inFlight: 2 },
      { batch: 10_000, inFlight: 3 },
    ],
    bulkSql: [
      { batch: 1_000, inFlight: 2, sql: true },
      { batch: 10_000, inFlight: 1, sql: true },
      { batch: 10_000, inFlight: 2, sql: true },
      { batch: 5_000, inFlight: 3, sql: true },
      { batch: 10_000, inFlight: 3, sql: true },
      { batch: 100_000, inFlight: 1, sql: true },
    ],
    single: [{ connections: 10 }, { connections: 20 }, { connections: 64 }],
    drain: [
      { concurrentJobs: 24, localQueue: 500, completeDelayMs: 0 },
      { concurrentJobs: 24, localQueue: 500, completeDelayMs: 250 },
      { concurrentJobs: 100, localQueue: 2_000, completeDelayMs: 50 },
      { concurrentJobs: 100, localQueue: 5_000, completeDelayMs: 50 },
      { concurrentJobs: 100, localQueue: 10_000, completeDelayMs: 50 },
      { concurrentJobs: 100, localQueue: 20_000, completeDelayMs: 50 },
      { concurrentJobs: 500, localQueue: 2_000, completeDelayMs: 50 },
      { concurrentJobs: 1_000, localQueue: 1_000, completeDelayMs: 50 },
    ],
    sleep: [
      { concurrentJobs: 10, localQueue: -1, completeDelayMs: 0 },
      { concurrentJobs: 10, localQueue: 500, completeDelayMs: 0 },
      { concurrentJobs: 10, localQueue: 500, completeDelayMs: 50 },
    ],
    both: [
      { ...BOTH, concurrentJobs: 24, localQueue: 500, completeDelayMs: 0 },
      { ...BOTH, concurrentJobs: 24, localQueue: 500, inFlight: 2 },
      { ...BOTH, localQueue: 2_000 },
      { ...BOTH, localQueue: 2_000, inFlight: 2 },
      BOTH,
      { ...BOTH, localQueue: 10_000 },
      { ...BOTH, sql: false },
    ],
    latency: [
      { concurrentJobs: 10, localQueue: -1, completeDelayMs: 0 },
      { concurrentJobs: 24, localQueue: 500, completeDelayMs: 0 },
      { concurrentJobs: 10, localQueue: 11, completeDelayMs: 250 },
    ],
  },
  left: "from graphile_worker._private_jobs",
  // It deletes what succeeded: there is no history to count.
  tables: ["graphile_worker._private_jobs"],
  depth: "from graphile_worker._private_jobs where locked_at is null",
  harness: (workers) => ({ ...DRAIN, concurrentJobs: workers, sql: true }),
  keepsHistory: () => false,

  open: async (url, settings) => {
    const { Logger, makeWorkerUtils, run } = await import("graphile-worker")
    const logger = new Logger(() => complain)
    const utils = await makeWorkerUtils({
      connectionString: url,
      maxPoolSize: settings.connections ?? 10,
      logger,
    })
    await utils.migrate()
    let runner
    return {
      enqueueMany: async (inputs, { delayMs } = {}) => {
        const runAt = delayMs === undefined ? undefined : new Date(Date.now() + delayMs)
        if (settings.sql) {
          const specs = inputs.map((payload) => ({ identifier: "noop", payload, run_at: runAt }))
          await utils.withPgClient((client) => client.query(ADD_JOBS, [JSON.stringify(specs)]))
        } else {
          await utils.addJobs(inputs.map((payload) => ({ identifier: "noop", payload, runAt })))
        }
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

function workerOptions({ concurrentJobs, localQueue, completeDelayMs, pollMs = 2_000 }) {
  return {
    concurrentJobs,
    // Two seconds, as it comes, unless it is said.
    pollInterval: pollMs,
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
