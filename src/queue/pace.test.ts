import fc from "fast-check"
import { expect, it } from "vitest"
import { paceOf } from "./pace.ts"

it("takes no more in any time than the rate allows, and at most one batch ahead", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 100_000, noNaN: true }), fc.nat(1_000), (perSecond, batches) => {
      const { batch, restMs } = paceOf(perSecond)
      const elapsedMs = batches * restMs(batch)
      expect(batch).toBeGreaterThanOrEqual(1)
      expect(batch).toBeLessThanOrEqual(100)
      expect(batches * batch).toBeLessThanOrEqual((elapsedMs * perSecond) / 1_000 + batch)
    }),
  )
})

it("takes full batches without a rest if no rate is given", () => {
  const { batch, restMs } = paceOf(undefined)
  expect([batch, restMs(batch)]).toEqual([100, 0])
})

it("takes one by one at a slow rate", () => {
  const { batch, restMs } = paceOf(2)
  expect([batch, restMs(1)]).toEqual([1, 500])
})
