/** How fast runs are enqueued, and how soon one starts that is alone, in a database that holds whatever it holds. */
import { enqueueInBulk, enqueueSingly } from "../queue/calls.mjs"
import { withFleet } from "../queue/fleet.mjs"
import { PACE_MS } from "../queue/sizes.mjs"
import { median } from "../tools/measure.mjs"
import { countOnce } from "./once.mjs"

const IN_FLIGHT = 8

/** Everything that was ready before is executed as well; what is enqueued here is numbered after it. */
export async function measureCalls({ contender, on, sizes }) {
  const { settings } = contender
  const { bulk: count, singleS, latency } = sizes
  return withFleet(
    { contender, settings: settings.drain, place: { url: on.url } },
    { processes: 1 },
    async (fleet) => {
      const [worker] = fleet.workers
      const from = on.numbered
      const bulk = await enqueueInBulk(fleet, settings.bulk, { count, from })
      const calls = { seconds: singleS, inFlight: IN_FLIGHT, from: from + count }
      const single = await enqueueSingly(fleet, settings.single, calls)
      const made = count + single.count
      await fleet.openAll(settings.latency)
      await fleet.start()
      await fleet.ran(on.ready + made)
      await worker.ask("enqueuePaced", { count: latency, paceMs: PACE_MS.busy, from: from + made })
      await fleet.ran(on.ready + made + latency)
      const { latencies, times } = await worker.ask("ran")
      await fleet.closeAll()
      countOnce(times, on.seen)
      on.numbered += made + latency
      on.ready = 0
      return {
        bulk,
        single: single.perSecond,
        startMs: median(latencies.filter((ms) => ms !== undefined)),
      }
    },
  )
}
