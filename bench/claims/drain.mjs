/** How fast a queue is drained behind runs that cannot be executed now. */
import { createCarillon, defineJob } from "../../dist/index.js"
import { enqueueMany, OBSTACLES } from "./obstacles.mjs"

const WARM_UP = 3_000
const SLOTS = 1_000

export async function drainBehind({ url, obstacle, count, ready }) {
  let left = 0
  let startedAtMs
  let isDrained
  const drained = () =>
    new Promise((resolve) => {
      isDrained = resolve
    })
  const noop = defineJob({
    name: "noop",
    run: async () => {
      startedAtMs ??= performance.now()
      left -= 1
      if (left === 0) isDrained()
    },
  })
  const limited = defineJob({ name: "limited", concurrency: 1, run: () => new Promise(() => {}) })
  const paused = defineJob({ name: "paused", run: async () => {} })
  const stranger = defineJob({ name: "stranger", run: async () => {} })
  const carillon = createCarillon({
    database: url,
    jobs: [noop, limited, paused],
    pools: { default: SLOTS },
  })
  await carillon.migrate()
  await OBSTACLES[obstacle].put(carillon, { noop, limited, paused, stranger }, count)
  await enqueueMany(carillon, noop, WARM_UP)
  left = WARM_UP
  const warm = drained()
  await carillon.start()
  await warm
  const done = drained()
  left = ready
  startedAtMs = undefined
  await enqueueMany(carillon, noop, ready)
  await done
  const perSecond = Math.round((ready * 1_000) / (performance.now() - startedAtMs))
  await carillon.stop({ grace: 0 })
  return { perSecond }
}
