/** Part "bulk": jobs enqueued by as few calls as the library allows for. */
import { USUAL_AUTOVACUUM } from "../tools/server.mjs"
import { withFleet } from "./fleet.mjs"
import { countFor } from "./sizes.mjs"

export const part = {
  name: "bulk",
  server: USUAL_AUTOVACUUM,
  title: "Enqueue in bulk",
  variants: () => ({
    call: { title: "by the library's call" },
    sql: { title: "by SQL written by hand", settings: "bulkSql" },
  }),
  /** By hand only where that was found to be faster than the call. */
  settingsOf: ({ settings }, variant) => settings[variant.settings ?? "bulk"],
  measure,
  figures: [{ key: "perSecond", title: "jobs a second", better: "more" }],
  target: { variant: "call", key: "perSecond", floor: 2.5, aim: 3.5, among: ["call", "sql"] },
}

async function measure(subject, _variant, sizes) {
  const { contender, settings, place } = subject
  const count = countFor(contender, sizes.bulk.count)
  return withFleet(subject, { processes: 1 }, async (fleet) => {
    const [worker] = fleet.workers
    await fleet.warmUp(sizes.warmUp)
    // Connections are opened, and the code is compiled, before the clock starts.
    const opening = Math.max(settings.batch * settings.inFlight, countFor(contender, sizes.bulk.opening))
    const found = await fleet.costs(async () => {
      await fleet.openAll()
      await worker.ask("enqueueMany", { ...settings, count: opening })
      const { ms } = await worker.ask("enqueueMany", { ...settings, count })
      await fleet.closeAll()
      return { count: opening + count, perSecond: (count * 1_000) / ms }
    })
    const waiting = await place.left()
    if (waiting !== found.count) throw new Error(`void: ${waiting} of ${found.count} jobs are waiting`)
    return found
  })
}
