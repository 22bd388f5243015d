/** The loads of parts "snapshot" and "delayed", each once without and once with a snapshot held. */
import { setTimeout as sleep } from "node:timers/promises"
import { enqueueAndExecute } from "../queue/both.mjs"
import { latencySettings, measureLatency } from "../queue/latency.mjs"
import { countFor, PACE_MS } from "../queue/sizes.mjs"
import { holdSnapshot } from "../tools/snapshot.mjs"

/**
 * All are due a second after they are enqueued, and three seconds' worth of the fastest may wait: no contender is held
 * up.
 */
const DELAY_MS = 1_000
const DELAYED_WAITING = 120_000
/** Runs at once, everywhere, of the job that has a limit. */
const CAP = 100

const LOADS = {
  plain: { title: "plain" },
  delayed: { title: "delayed by a second", delayMs: DELAY_MS, mostWaiting: DELAYED_WAITING },
  /** Each peer means something else by a limit, or has none: Carillon alone. */
  capped: { title: `at most ${CAP} at once`, cap: CAP, isOurs: true },
  latency: { title: "300 a second, to the start", isLatency: true },
}

/** Each takes as long as many others, so what takes jobs that are delayed can be measured alone. */
export const part = partOf("snapshot", "Under a snapshot that is held open", ["plain", "capped", "latency"])
export const delayedPart = partOf("delayed", "Delayed jobs under a snapshot that is held open", ["delayed"])

function partOf(name, title, loads) {
  return {
    name,
    title,
    variants: () =>
      Object.fromEntries(
        loads.flatMap((load) => [
          [load, { title: LOADS[load].title, load, isHeld: false }],
          [`${load}Held`, { title: `${LOADS[load].title}, held`, load, isHeld: true }],
        ]),
      ),
    settingsOf,
    whyNot: () => "each peer means something else by a limit, or has none",
    measure: (subject, variant, sizes) => measure(subject, variant, { ...sizes, ...sizes[name] }),
    figures: [{ key: "atTheEnd", title: "a second, or median ms, at the end", better: "more" }],
  }
}

function settingsOf({ name, settings }, { load }) {
  const { isOurs, isLatency, delayMs, cap } = LOADS[load]
  if (isOurs && name !== "carillon") return undefined
  if (isLatency) return latencySettings(settings, { isSame: false })
  // No notification says that a job comes due: some contenders have to look for it more often.
  if (delayMs !== undefined) return settings.delayed ?? settings.both
  // More slots than that, or there would be nothing to limit.
  return cap === undefined ? settings.both : { ...settings.both, cap, slots: 10 * cap }
}

async function measure(subject, { load, isHeld }, sizes) {
  const { seconds, heldFromS, judgedS } = sizes
  let release = async () => {}
  /** Later: a profile of what happens while it is held begins at full speed. */
  const meanwhile = async () => {
    const holding = isHeld ? holdAfter(subject.place.url, heldFromS) : undefined
    return async () => {
      release = (await holding) ?? release
      await release()
    }
  }
  if (LOADS[load].isLatency) {
    const perSecond = 1_000 / PACE_MS.busy
    const [count, judged] = [seconds, judgedS].map((each) => Math.round(each * perSecond))
    const task = { isSame: false, paceMs: PACE_MS.busy, count, judged, meanwhile }
    const found = await measureLatency(subject, task, sizes)
    return { ...found, atTheEnd: found.medianMs, speed: 1 / found.medianMs }
  }
  const { delayMs, mostWaiting: most } = LOADS[load]
  // For a contender that is an order of magnitude slower it would be half a minute's worth.
  const mostWaiting = most && countFor(subject.contender, most)
  const found = await enqueueAndExecute(subject, { seconds, delayMs, mostWaiting, meanwhile }, sizes)
  // Before the end, when the last are only executed. Whole seconds: some execute thousands at a time.
  const judged = found.timeline.slice(Math.floor(seconds) - judgedS, Math.floor(seconds))
  const atTheEnd = judged.reduce((sum, ran) => sum + ran, 0) / judgedS
  return { ...found, atTheEnd, speed: atTheEnd }
}

async function holdAfter(url, seconds) {
  await sleep(seconds * 1_000)
  return holdSnapshot(url)
}
