/** pg-boss: large batches, several workers that fetch again at once, and NOTIFY where that is faster. */

const QUEUE = "noop"
const BULK = { batch: 10_000, inFlight: 2, partition: true }
const DRAIN = { batchSize: 5_000, workers: 2, partition: true }
const BOTH = { batchSize: 1_000, workers: 2, notify: true, partition: true, batch: 2_000, inFlight: 1 }

export const contender = {
  title: "pg-boss",
  package: "pg-boss",
  on: "postgres",
  settings: {
    bulk: BULK,
    single: { partition: true, connections: 10 },
    drain: DRAIN,
    sleep: { batchSize: 5, workers: 2, partition: true },
    both: BOTH,
    latency: { batchSize: 100, workers: 1, notify: true, partition: true },
  },
  tried: {
    bulk: [
      { batch: 1_000, inFlight: 1 },
      { batch: 1_000, inFlight: 2 },
      { batch: 10_000, inFlight: 1 },
      { batch: 10_000, inFlight: 2 },
      { batch: 100_000, inFlight: 1 },
      { batch: 1_000, inFlight: 2, partition: true },
      { batch: 10_000, inFlight: 2, partition: true },
      { batch: 10_000, inFlight: 3, partition: true },
      { batch: 5_000, inFlight: 3, partition: true },
    ],
    single: [
      { partition: true, connections: 10 },
      { partition: true, connections: 20 },
      { partition: true, connections: 64 },
      { connections: 20 },
    ],
    drain: [
      { batchSize: 1_000, workers: 4, partition: true },
      { batchSize: 2_000, workers: 2 },
      { batchSize: 2_000, workers: 4, partition: true },
      { batchSize: 5_000, workers: 2 },
      { batchSize: 5_000, workers: 2, partition: true },
      { batchSize: 5_000, workers: 4, partition: true },
      { batchSize: 10_000, workers: 2, partition: true },
    ],
    sleep: [
      // A batch of one is never followed by the next at once: it would wait for half a second.
      { batchSize: 2, workers: 5, partition: true },
      { batchSize: 5, workers: 2, partition: true },
      { batchSize: 10, workers: 1, partition: true },
    ],
    both: [
      { ...BOTH, batch: 1_000 },
      { ...BOTH, batch: 1_000, notify: false },
      { ...BOTH, batch: 1_000, workers: 1 },
      { ...BOTH, batch: 1_000, workers: 4 },
      { ...BOTH, batch: 1_000, inFlight: 2 },
      { ...BOTH, batch: 1_000, batchSize: 2_000 },
      { ...BOTH, batch: 1_000, batchSize: 5_000, inFlight: 2 },
      BOTH,
    ],
    latency: [
      { batchSize: 1, workers: 4, notify: true, partition: true },
      { batchSize: 100, workers: 1, notify: true, partition: true },
      { batchSize: 100, workers: 4, notify: true, partition: true },
    ],
  },
  left: `from pgboss.job where name = '${QUEUE}' and state < 'completed'`,
  kept: `from pgboss.job where name = '${QUEUE}' and state = 'completed'`,
  input: "data",
  tables: ["pgboss.job"],
  depth: `from pgboss.job where name = '${QUEUE}' and state < 'active'`,
  harness: (workers) => ({ ...BOTH, batchSize: Math.ceil(workers / 4), workers: 4 }),
  keepsHistory: () => true,

  open: async (url, settings) => {
    const { PgBoss } = await import("pg-boss")
    const boss = new PgBoss({
      connectionString: url,
      max: settings.connections ?? 10,
      useListenNotify: settings.notify === true,
      // Upkeep and cron have nothing to do here; without them it is a little faster.
      supervise: false,
      schedule: false,
    })
    boss.on("error", (error) => console.error(`pg-boss: ${error.message}`))
    await boss.start()
    await boss.createQueue(QUEUE, {
      notify: settings.notify === true,
      partition: settings.partition === true,
    })
    return {
      enqueueMany: async (inputs, { delayMs } = {}) => {
        const delay = delayMs === undefined ? {} : { startAfter: new Date(Date.now() + delayMs) }
        await boss.insert(
          QUEUE,
          inputs.map((data) => ({ data, ...delay })),
        )
      },
      enqueue: (input) => boss.send(QUEUE, input),
      start: (onJob) => boss.work(QUEUE, workOptions(settings), handlerOf(onJob)),
      close: () => boss.stop({ graceful: true }),
    }
  },
}

function workOptions({ batchSize, workers }) {
  return {
    batchSize,
    localConcurrency: workers,
    // Both as eager as it allows: a full batch is followed by the next at once, and 0.5 s is the least.
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
    notifyPollingIntervalSeconds: 0.5,
  }
}

function handlerOf(onJob) {
  return async (jobs) => {
    const handled = jobs.map((job) => onJob(job.data))
    // Those that do nothing are not waited for one by one.
    if (handled[0] !== undefined) await Promise.all(handled)
  }
}
