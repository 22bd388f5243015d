/**
 * BullMQ, on Redis or on its PostgreSQL backend: the same code of theirs with another store. It has no batches of runs:
 * each is claimed and completed by itself, so what helps is many at once.
 */
const QUEUE = "noop"
/** Each state that is not an end is a list or a sorted set of this name. */
export const UNFINISHED = ["wait", "paused", "active", "prioritized", "delayed", "waiting-children"]

/** `isOnPostgres` chooses the store; Redis is their own choice. */
export function createBullmq({ isOnPostgres = false, connectionOf }) {
  return async (url, settings) => {
    const bullmq = await import("bullmq")
    const classes = isOnPostgres ? bullmq.withBackend(bullmq.createPostgresBackend) : bullmq
    // `keep: false` deletes what succeeded, as their guide advises for production. By default all of it stays.
    const queue = new classes.Queue(QUEUE, {
      connection: connectionOf(url, settings),
      defaultJobOptions: { removeOnComplete: settings.keep === false },
    })
    queue.on("error", complain)
    await queue.waitUntilReady()
    const workers = []
    return {
      enqueueMany: async (inputs, { delayMs } = {}) => {
        await queue.addBulk(inputs.map((data) => ({ name: QUEUE, data, opts: { delay: delayMs } })))
      },
      enqueue: (input) => queue.add(QUEUE, input),
      start: async (onJob) => {
        for (let n = 0; n < (settings.workers ?? 1); n += 1) {
          const worker = new classes.Worker(QUEUE, async ({ data }) => onJob(data), {
            connection: connectionOf(url, settings),
            concurrency: settings.concurrency,
          })
          worker.on("error", complain)
          workers.push(worker)
        }
        await Promise.all(workers.map((worker) => worker.waitUntilReady()))
      },
      close: async () => {
        await Promise.all(workers.map((worker) => worker.close()))
        await queue.close()
      },
    }
  }
}

function complain(error) {
  console.error(`bullmq: ${error.message}`)
}
