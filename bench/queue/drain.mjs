/**
 * Parts "drain" and "sleep": jobs executed from a full queue, by 1, 2 and 4 processes. In the one handlers do nothing,
 * and the processors are the limit; in the other each sleeps for 5 ms, and the slots are.
 *
 * The time begins with the call that lets connected processes execute, so early claims count. It ends when the queue is
 * empty in the database: what is executed but not yet written down is not done.
 */
import { nowMs } from "../tools/processes.mjs"
import { USUAL_AUTOVACUUM } from "../tools/server.mjs"
import { withFleet } from "./fleet.mjs"
import { countFor, SLEEP_MS, SLEEP_SLOTS } from "./sizes.mjs"

export const part = {
  name: "drain",
  server: USUAL_AUTOVACUUM,
  title: "Execute from a full queue",
  variants: ({ drain }) => variantsOf(drain.processes),
  settingsOf: ({ settings }) => settings.drain,
  measure: (subject, { processes }, sizes) =>
    measure(subject, { processes, count: countFor(subject.contender, sizes.drain.count) }, sizes),
  figures: [{ key: "perSecond", title: "jobs a second", better: "more" }],
  target: { variant: "1", key: "perSecond", floor: 2, aim: 3 },
}

export const sleepPart = {
  name: "sleep",
  server: USUAL_AUTOVACUUM,
  title: `Execute handlers that sleep ${SLEEP_MS} ms, ${SLEEP_SLOTS} at once in each process`,
  variants: ({ sleep }) => variantsOf(sleep.processes),
  settingsOf: ({ settings }) => settings.sleep,
  measure: (subject, { processes }, sizes) =>
    measure(subject, { processes, count: sizes.sleep.countEach * processes, sleepMs: SLEEP_MS }, sizes),
  figures: [{ key: "perSecond", title: "jobs a second", better: "more" }],
  /** Of Carillon: from each number of processes to twice as many. */
  scaling: { key: "perSecond", floor: 1.8 },
}

function variantsOf(processes) {
  return Object.fromEntries(
    processes.map((count) => [
      count,
      { title: count === 1 ? "1 process" : `${count} processes`, processes: count },
    ]),
  )
}

async function measure(subject, { processes, count, sleepMs }, sizes) {
  const { place } = subject
  return withFleet(subject, { processes }, async (fleet) => {
    await fleet.warmUp(sizes.warmUp * processes)
    await fleet.fill(count)
    await place.settle()
    const found = await fleet.costs(async () => {
      await fleet.openAll()
      const startMs = nowMs()
      await fleet.start({ sleepMs })
      await fleet.drained(count)
      const ms = nowMs() - startMs
      const serverMb = place.memoryMb()
      await fleet.closeAll()
      return { count, serverMb, perSecond: (count * 1_000) / ms, toFirstMs: fleet.state.firstMs - startMs }
    })
    await fleet.verify(count, sizes.warmUp * processes)
    return found
  })
}
