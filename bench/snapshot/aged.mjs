/**
 * Part "aged": what a snapshot does to processes that start while it is held. One process enqueues and executes for a
 * while, so that a million rows are dead and cannot go, and then each of the other loads is measured once, by new
 * processes, beside the same without it.
 */
import { enqueueInBulk, enqueueSingly } from "../queue/calls.mjs"
import { contest } from "../queue/contest.mjs"
import { withFleet } from "../queue/fleet.mjs"
import { MOST_WAITING, PACE_MS } from "../queue/sizes.mjs"
import { median } from "../tools/measure.mjs"
import { nowMs } from "../tools/processes.mjs"
import { holdSnapshot } from "../tools/snapshot.mjs"
import { AGED_FIGURES, AGED_IN_FLIGHT, AGED_PROCESSES } from "./figures.mjs"
import { AIM, among, byRound, FLOOR, printLeft, shares } from "./left.mjs"

export const agedPart = {
  name: "aged",
  title: "After a while under a snapshot that is held open",
  variants: () => ({
    free: { title: "without", isHeld: false },
    held: { title: "held", isHeld: true },
  }),
  /** Each load has its own. */
  settingsOf: ({ settings, share }) => (share === undefined ? settings.both : undefined),
  whyNot: () => "a million of its jobs take more than ten minutes",
  measure,
  figures: AGED_FIGURES,
}

export async function run(options) {
  const results = await contest(agedPart, { ...options, among })
  const left = leftOf(results)
  printLeft(results, left)
  return { ...results, left, floor: FLOOR, aim: AIM }
}

function leftOf({ measured, contenders }) {
  return Object.fromEntries(
    AGED_FIGURES.map(({ key, better }) => {
      const speeds = (name, variant) =>
        byRound(
          measured.filter((each) => each.contender === name && each.variant === variant),
          ({ [key]: figure }) => (better === "more" ? figure : 1 / figure),
        )
      return [key, shares(contenders, (name) => [speeds(name, "free"), speeds(name, "held")])]
    }),
  )
}

async function measure(subject, { isHeld }, sizes) {
  const { contender, place } = subject
  const { settings } = contender
  const { ageS, count, singleS, latency } = sizes.aged
  return withFleet(subject, { processes: AGED_PROCESSES }, async (fleet) => {
    const [worker] = fleet.workers
    await fleet.warmUp(sizes.warmUp)
    fleet.use(1)
    return fleet.costs(async () => {
      const release = isHeld ? await holdSnapshot(place.url) : async () => {}
      const aged = await age(fleet, subject, ageS)
      const bulk = await enqueueInBulk(fleet, settings.bulk, { count })
      const drain1 = await drain(fleet, settings.drain, count)
      const calls = { seconds: singleS, inFlight: AGED_IN_FLIGHT }
      const { count: sent, perSecond: single } = await enqueueSingly(fleet, settings.single, calls)
      await fleet.fill(count, sent)
      fleet.use(AGED_PROCESSES)
      const drain4 = await drain(fleet, settings.drain, sent + count)
      fleet.use(1)
      const paced = { settings: settings.latency, count: latency }
      const sameMs = await latencyBy(fleet, worker, paced)
      const otherMs = await latencyBy(fleet, fleet.client, paced)
      const all = aged + 2 * count + sent + 2 * latency
      await fleet.verifyKept(all, sizes.warmUp)
      await release()
      return { bulk, single, drain1, drain4, sameMs, otherMs, count: all }
    })
  })
}

/** Says how many that were. */
async function age(fleet, { contender }, seconds) {
  const [worker] = fleet.workers
  const { both } = contender.settings
  await fleet.openAll(both)
  await fleet.start()
  const { count } = await worker.ask("enqueueSteadily", { ...both, seconds, mostWaiting: MOST_WAITING })
  await fleet.drained(count)
  await fleet.verifyRan(count)
  await fleet.closeAll()
  return count
}

/** Until the last has run: the question whether any is left walks over all that is dead, which takes half a second. */
async function drain(fleet, settings, count) {
  await fleet.openAll(settings)
  const startMs = nowMs()
  await fleet.start()
  await fleet.ran(count)
  const ms = nowMs() - startMs
  await fleet.drained(count)
  await fleet.verifyRan(count)
  await fleet.closeAll()
  return (count * 1_000) / ms
}

async function latencyBy(fleet, sender, { settings, count }) {
  const [worker] = fleet.workers
  await fleet.openAll(settings)
  if (sender !== worker) await fleet.open(sender, settings)
  await fleet.start()
  await sender.ask("enqueuePaced", { count, paceMs: PACE_MS.busy })
  await fleet.drained(count)
  const { latencies } = await worker.ask("ran")
  await fleet.verifyRan(count)
  await fleet.closeAll()
  if (sender !== worker) await sender.ask("close")
  return median(latencies)
}
