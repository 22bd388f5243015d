import { describe, expect, it } from "vitest"
import { createClaimLedger } from "./claim-ledger.ts"

describe("a ledger of claims", () => {
  it("has a claim end with the last of its runs, and tells of it once", () => {
    const ledger = createClaimLedger()
    ledger.open({ lease: "a", claim: 1n }, 2)
    ledger.open({ lease: "a", claim: 2n }, 1)
    ledger.end({ lease: "a", claim: 1n })
    expect(ledger.takeEnded("a")).toEqual([])
    ledger.end({ lease: "a", claim: 2n })
    ledger.end({ lease: "a", claim: 1n })
    expect(ledger.takeEnded("a")).toEqual([2n, 1n])
    expect(ledger.takeEnded("a")).toEqual([])
  })

  it("has many to take away when a hundred claims have ended, or claims of ten thousand runs", () => {
    const ledger = createClaimLedger()
    const claimed = (claim: bigint, runs: number) => {
      const fence = { lease: "a", claim }
      ledger.open(fence, runs)
      for (let run = 1; run < runs; run += 1) ledger.end(fence)
      const before = ledger.hasManyEnded()
      ledger.end(fence)
      return [before, ledger.hasManyEnded()]
    }
    for (let claim = 1n; claim < 100n; claim += 1n) expect(claimed(claim, 1)).toEqual([false, false])
    expect(claimed(100n, 1)).toEqual([false, true])
    ledger.takeEnded("a")
    expect(claimed(101n, 10_000)).toEqual([false, true])
    ledger.takeEnded("a")
    expect(claimed(102n, 9_999)).toEqual([false, false])
  })

  it("tells again of what could not be taken away", () => {
    const ledger = createClaimLedger()
    ledger.open({ lease: "a", claim: 1n }, 1)
    ledger.end({ lease: "a", claim: 1n })
    ledger.putBack("a", ledger.takeEnded("a"))
    expect(ledger.takeEnded("a")).toEqual([1n])
  })

  it("forgets what belongs to a lease that is over: that is not this process's to take away", () => {
    const ledger = createClaimLedger()
    ledger.open({ lease: "a", claim: 1n }, 1)
    ledger.open({ lease: "a", claim: 2n }, 1)
    ledger.end({ lease: "a", claim: 1n })
    const ended = ledger.takeEnded("a")
    ledger.open({ lease: "b", claim: 3n }, 1)
    ledger.putBack("a", ended)
    ledger.end({ lease: "a", claim: 2n })
    expect(ledger.takeEnded("b")).toEqual([])
  })
})
