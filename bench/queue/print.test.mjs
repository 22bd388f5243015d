import { describe, expect, it } from "vitest"
import { judge } from "./print.mjs"

const CONTENDERS = {
  carillon: { on: "postgres", isOurs: true },
  "carillon-default": { on: "postgres", isOurs: true },
  one: { on: "postgres" },
  other: { on: "redis" },
}
const figureOf = (key) => (median) => ({ [key]: { median } })
const rate = figureOf("perSecond")
const delay = figureOf("medianMs")

const BULK = {
  figures: [{ key: "perSecond", better: "more" }],
  target: { variant: "call", key: "perSecond", floor: 2, among: ["call", "sql"] },
}
const LATENCY = {
  figures: [{ key: "medianMs", better: "less" }],
  targets: [{ variant: "same", key: "medianMs", floor: 1, isMore: true, beside: "postgres" }],
}

describe("Carillon is compared", () => {
  it("with the best peer, in whichever way that is at its best", () => {
    const call = { carillon: rate(150), one: rate(50), other: rate(60) }
    expect(judge(BULK, { call, sql: {} }, CONTENDERS)).toMatchObject([
      { bestPeer: "other", times: 2.5, verdict: "holds" },
    ])
    expect(judge(BULK, { call, sql: { one: rate(100) } }, CONTENDERS)).toMatchObject([
      { bestPeer: "one", times: 1.5, verdict: "MISSED" },
    ])
  })

  it("by fewer milliseconds as by more a second, and only with those that the target names", () => {
    const same = { carillon: delay(2), one: delay(3), other: delay(1) }
    expect(judge(LATENCY, { same }, CONTENDERS)).toMatchObject([
      { bestPeer: "one", times: 1.5, verdict: "holds" },
    ])
  })

  it("never with itself", () => {
    const call = { carillon: rate(150), "carillon-default": rate(200) }
    expect(judge(BULK, { call }, CONTENDERS)).toMatchObject([{ verdict: "there is nobody to compare with" }])
  })

  it("and has failed where it has no figure", () => {
    const call = { carillon: { failure: "it ended" }, one: rate(1) }
    expect(judge(BULK, { call }, CONTENDERS)).toMatchObject([{ verdict: "FAILED" }])
  })

  it("with itself by half as many processes, where that is what is asked for", () => {
    const part = { figures: BULK.figures, scaling: { key: "perSecond", floor: 1.8 } }
    const figures = { 1: { carillon: rate(100) }, 2: { carillon: rate(190) }, 4: { carillon: rate(300) } }
    expect(judge(part, figures, CONTENDERS).map(({ verdict }) => verdict)).toEqual(["holds", "MISSED"])
  })
})
