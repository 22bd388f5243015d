import { describe, expect, it } from "vitest"
import { judge, wanted } from "./print.mjs"

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
    expect(judge(BULK, { figures: { call, sql: {} }, contenders: CONTENDERS })).toMatchObject([
      { bestPeer: "other", times: 2.5, verdict: "holds" },
    ])
    expect(judge(BULK, { figures: { call, sql: { one: rate(100) } }, contenders: CONTENDERS })).toMatchObject(
      [{ bestPeer: "one", times: 1.5, verdict: "MISSED" }],
    )
  })

  it("by fewer milliseconds as by more a second, and only with those that the target names", () => {
    const same = { carillon: delay(2), one: delay(3), other: delay(1) }
    expect(judge(LATENCY, { figures: { same }, contenders: CONTENDERS })).toMatchObject([
      { bestPeer: "one", times: 1.5, verdict: "holds" },
    ])
  })

  it("never with itself", () => {
    const call = { carillon: rate(150), "carillon-default": rate(200) }
    expect(judge(BULK, { figures: { call }, contenders: CONTENDERS })).toMatchObject([
      { verdict: "there is no peer to compare with" },
    ])
  })

  it("and has failed where it has no figure", () => {
    const call = { carillon: { failure: "it ended" }, one: rate(1) }
    expect(judge(BULK, { figures: { call }, contenders: CONTENDERS })).toMatchObject([{ verdict: "FAILED" }])
  })

  it("with no peer while one that may be the best is missing or has failed", () => {
    const verdictOf = (part, figures, missing) =>
      judge(part, { figures, contenders: CONTENDERS, missing })[0].verdict
    const call = { carillon: rate(150), one: rate(50) }
    const third = { name: "third", because: "it is not installed" }
    expect(verdictOf(BULK, { call }, [])).toBe("holds")
    expect(verdictOf(BULK, { call }, [third])).toBe("not judged without third")
    const failed = { call: { ...call, other: rate(60) }, sql: { other: { failure: "it ended" } } }
    expect(verdictOf(BULK, failed, [])).toBe("not judged without other")
    // Neither is beside Carillon in a target that is about PostgreSQL.
    const same = { carillon: delay(2), one: delay(3), other: { failure: "it ended" } }
    expect(verdictOf(LATENCY, { same }, [{ ...third, on: "redis" }])).toBe("holds")
  })

  it("with itself by half as many processes, where that is what is asked for", () => {
    const part = { figures: BULK.figures, scaling: { key: "perSecond", floor: 1.8 } }
    const figures = { 1: { carillon: rate(100) }, 2: { carillon: rate(190) }, 4: { carillon: rate(300) } }
    expect(judge(part, { figures, contenders: CONTENDERS }).map(({ verdict }) => verdict)).toEqual([
      "holds",
      "MISSED",
    ])
  })

  it("with nothing but an aim where no floor is given, which is reached or not", () => {
    const part = { ...LATENCY, targets: [{ variant: "same", key: "medianMs", aim: 1 }] }
    const verdictOf = (other) =>
      judge(part, {
        figures: { same: { carillon: delay(2), other: delay(other) } },
        contenders: CONTENDERS,
      })[0].verdict
    expect([verdictOf(1), verdictOf(2)]).toEqual(["short of the aim", "holds"])
  })
})

describe("What is wanted", () => {
  it("is put into words, a floor that has to be passed as well", () => {
    expect(wanted({ floor: 2, aim: 3 })).toBe("at least 2, aim 3")
    expect(wanted({ floor: 1, isMore: true, aim: 2 })).toBe("more than 1, aim 2")
    expect(wanted({ aim: 1 })).toBe("aim 1")
  })
})
