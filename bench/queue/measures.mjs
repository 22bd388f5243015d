/**
 * Jobs per second: enqueued in bulk, executed from a full queue, and both at once in one process.
 *
 * A subject is a contender with its settings and a database. `onBegin` and `onEnd` enclose what is measured, for
 * those who want to look inside.
 */
import { round } from "../measure.mjs"
import { enqueueAll, warmUp, withSession, withWatcher } from "./session.mjs"
import { BOTH_BATCH, JOBS, WARM_UP } from "./sizes.mjs"
import { createTally, inputsOf } from "./tally.mjs"

export async function bulk(subject) {
  const count = JOBS.bulk
  const inputs = inputsOf(count)
  return withWatcher(subject, async (watcher) => {
    await warmUp(subject, watcher, WARM_UP.bulk)
    const figures = await withSession(subject, async (session) => {
      // The connection is opened before the clock starts.
      await session.enqueueMany(inputsOf(1))
      return clocked({ subject, watcher, count }, () => enqueueAll(session, inputs, subject.settings))
    })
    const waiting = await watcher.left()
    if (waiting !== count + 1) throw new Error(`void: ${waiting - 1} of ${count} jobs are waiting`)
    return figures
  })
}

/**
 * From the start of the first handler until the queue is empty in the database: starting up is not measured, and
 * what is executed but not yet written down is not done.
 */
export async function drain(subject) {
  const count = JOBS.drain
  const tally = createTally(count)
  return withWatcher(subject, async (watcher) => {
    await warmUp(subject, watcher, WARM_UP.drain)
    await withSession(subject, (session) =>
      enqueueAll(session, inputsOf(count), { batch: 10_000, inFlight: 1 }),
    )
    // Everybody gets the statistics that autovacuum would have gathered by chance or not.
    await watcher.query("analyze")
    await watcher.query("checkpoint")
    const figures = await withSession(subject, (session) =>
      clocked({ subject, watcher, count }, async (clock) => {
        await session.start((input) => {
          clock.start()
          tally.ran(input)
        })
        await tally.complete
        await watcher.settled()
      }),
    )
    tally.verify()
    await watcher.verifyKept(count + WARM_UP.drain)
    return figures
  })
}

/** From the first enqueue until the queue is empty in the database. */
export async function both(subject) {
  const count = JOBS.both
  const inputs = inputsOf(count)
  const tally = createTally(count)
  return withWatcher(subject, async (watcher) => {
    await warmUp(subject, watcher, WARM_UP.both)
    const figures = await withSession(subject, async (session) => {
      await session.start(tally.ran)
      return clocked({ subject, watcher, count }, async () => {
        await enqueueAll(session, inputs, { ...subject.settings, batch: BOTH_BATCH })
        await tally.complete
        await watcher.settled()
      })
    })
    tally.verify()
    await watcher.verifyKept(count + WARM_UP.both)
    return figures
  })
}

/**
 * Jobs per second, and microseconds of processor per job, here and in the server: those hardly depend on what else
 * the machine does. `work` may start the clock late, once.
 */
async function clocked({ subject, watcher, count }, work) {
  await subject.onBegin()
  const before = { here: process.cpuUsage(), server: watcher.serverMs(), at: performance.now() }
  let start
  await work({
    start: () => {
      start ??= performance.now()
    },
  })
  const ms = performance.now() - (start ?? before.at)
  const here = process.cpuUsage(before.here)
  const serverMs = watcher.serverMs() - before.server
  await subject.onEnd()
  return {
    perSecond: Math.round((count * 1_000) / ms),
    nodeUs: round((here.user + here.system) / count),
    serverUs: round((serverMs * 1_000) / count),
  }
}
