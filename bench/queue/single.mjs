/** Part "single": jobs enqueued one in a call, with 1, 8 and 64 calls under way at a time. */
import { USUAL_AUTOVACUUM } from "../tools/server.mjs"
import { withFleet } from "./fleet.mjs"

export const part = {
  name: "single",
  server: USUAL_AUTOVACUUM,
  title: "Enqueue one by one",
  variants: ({ single }) =>
    Object.fromEntries(
      single.inFlight.map((inFlight) => [inFlight, { title: `${inFlight} at once`, inFlight }]),
    ),
  settingsOf: ({ settings }) => settings.single,
  measure,
  figures: [{ key: "perSecond", title: "jobs a second", better: "more" }],
}

async function measure(subject, { inFlight }, { single, warmUp }) {
  return withFleet(subject, { processes: 1 }, async (fleet) => {
    const [worker] = fleet.workers
    await fleet.warmUp(warmUp)
    const found = await fleet.costs(async () => {
      await fleet.openAll()
      // Connections are opened, and the code is compiled, before the clock starts.
      const opening = await worker.ask("enqueueSingly", { seconds: single.seconds / 10, inFlight })
      const { ms, count } = await worker.ask("enqueueSingly", { seconds: single.seconds, inFlight })
      await fleet.closeAll()
      return { count: opening.count + count, perSecond: (count * 1_000) / ms }
    })
    const waiting = await subject.place.left()
    if (waiting !== found.count) throw new Error(`void: ${waiting} of ${found.count} jobs are waiting`)
    return found
  })
}
