/** pg-boss: large batches, several workers that fetch again at once, and NOTIFY where that is faster. */
import { PgBoss } from "pg-boss"

const QUEUE = "noop"
const BULK = { batch: 10_000, inFlight: 2, partition: true }
const DRAIN = { batchSize: 5_000, workers: 2, partition: true }

export const contender = {
  name: "pg-boss",
  settings: {
    bulk: BULK,
    bulkCall: BULK,
    drain: DRAIN,
    both: { batchSize: 1_000, workers: 2, notify: true, partition: true, inFlight: 1 },
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
    bulkCall: [],
    drain: [
      { batchSize: 1_000, workers: 4, partition: true },
      { batchSize: 2_000, workers: 2 },
      { batchSize: 2_000, workers: 4, partition: true },
      { batchSize: 5_000, workers: 2 },
      { batchSize: 5_000, workers: 2, partition: true },
      { batchSize: 5_000, workers: 4, partition: true },
      { batchSize: 10_000, workers: 2, partition: true },
    ],
    both: [
      { batchSize: 1_000, workers: 2, notify: true, partition: true, inFlight: 1 },
      { batchSize: 1_000, workers: 2, notify: true, partition: true, inFlight: 2 },
      { batchSize: 2_000, workers: 2, notify: true, partition: true, inFlight: 1 },
      { batchSize: 5_000, workers: 2, notify: true, partition: true, inFlight: 2 },
    ],
    latency: [
      { batchSize: 1, workers: 4, notify: true, partition: true },
      { batchSize: 100, workers: 1, notify: true, partition: true },
      { batchSize: 100, workers: 4, notify: true, partition: true },
    ],
  },
  left: `from pgboss.job where name = '${QUEUE}' and state < 'completed'`,
  kept: `from pgboss.job where name = '${QUEUE}' and state = 'completed'`,

  open: async (url, settings) => {
    const boss = new PgBoss({
      connectionString: url,
      max: 10,
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
      enqueueMany: async (inputs) => {
        await boss.insert(
          QUEUE,
          inputs.map((data) => ({ data })),
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
    for (const job of jobs) onJob(job.data)
  }
}
