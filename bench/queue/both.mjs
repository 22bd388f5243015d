/**
 * Part "both": one process enqueues and executes at once for a minute. It enqueues as fast as it can, but stays at most
 * 10,000 jobs ahead of those it has executed. Otherwise fast enqueuers would be measured with a full queue.
 */
import { nowMs } from "../tools/processes.mjs"
import { withFleet } from "./fleet.mjs"
import { MOST_WAITING } from "./sizes.mjs"

export const part = {
  name: "both",
  title: "Enqueue and execute at once",
  variants: () => ({ plain: { title: "in one process" } }),
  settingsOf: ({ settings }) => settings.both,
  measure: (subject, _variant, sizes) => enqueueAndExecute(subject, { seconds: sizes.both.seconds }, sizes),
  figures: [{ key: "perSecond", title: "jobs a second", better: "more" }],
  target: { variant: "plain", key: "perSecond", floor: 1.8, aim: 2.5 },
}

/** `meanwhile` is called when it begins, and what it returns when it has ended. */
export async function enqueueAndExecute(subject, load, sizes) {
  const { settings, place } = subject
  const { seconds, delayMs, mostWaiting = MOST_WAITING, meanwhile = async () => async () => {} } = load
  const { batch, inFlight } = settings
  return withFleet(subject, { processes: 1 }, async (fleet) => {
    const [worker] = fleet.workers
    await fleet.warmUp(sizes.warmUp)
    const found = await fleet.costs(async () => {
      await fleet.openAll()
      await fleet.start()
      const endMeanwhile = await meanwhile()
      const startMs = nowMs()
      const task = { seconds, batch, inFlight, mostWaiting, delayMs }
      const { count } = await worker.ask("enqueueSteadily", task)
      await fleet.drained(count)
      const ms = nowMs() - startMs
      await endMeanwhile()
      const serverMb = place.memoryMb()
      await fleet.closeAll()
      const timeline = perSecondOf(fleet.state.timeline, startMs)
      return { count, serverMb, perSecond: (count * 1_000) / ms, timeline }
    })
    await fleet.verify(found.count, sizes.warmUp)
    return found
  })
}

/** How many ran in each whole second, from what was told on the way. */
function perSecondOf(told, startMs) {
  const until = told.length === 0 ? 0 : Math.floor((told.at(-1)[0] - startMs) / 1_000)
  const at = (second) => told.findLast(([ms]) => ms <= startMs + second * 1_000)?.[1] ?? 0
  return Array.from({ length: until }, (_, second) => at(second + 1) - at(second))
}
