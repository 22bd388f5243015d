/**
 * Calls that enqueue, by the first process of a fleet in a session of its own, and how many jobs a second that gives.
 */

export async function enqueueInBulk(fleet, settings, { count, from = 0 }) {
  const [worker] = fleet.workers
  await fleet.openAll(settings)
  const { ms } = await worker.ask("enqueueMany", { ...settings, count, from })
  await fleet.closeAll()
  return (count * 1_000) / ms
}

/** Says as well how many they were. */
export async function enqueueSingly(fleet, settings, { seconds, inFlight, from = 0 }) {
  const [worker] = fleet.workers
  await fleet.openAll(settings)
  const { ms, count } = await worker.ask("enqueueSingly", { seconds, inFlight, from })
  await fleet.closeAll()
  return { count, perSecond: (count * 1_000) / ms }
}
