import { describe, expect, it } from "vitest"
import { DEFAULTS } from "../../defaults.ts"
import { MOST_CONNECTIONS, shareConnections } from "./share.ts"

const total = (max: number) => {
  const { vital, work, handler, thread, listens } = shareConnections(max)
  return vital + work + handler + Number(thread) + Number(listens)
}

describe("the connections of a process", () => {
  it("are never more than it may hold, and as many as it may", () => {
    for (let max = 2; max <= MOST_CONNECTIONS; max += 1) expect(total(max)).toBe(max)
    expect(total(1_000)).toBe(MOST_CONNECTIONS)
  })

  it("are given to what is vital first, then to work, the thread, wake-ups and handlers", () => {
    const none = { handler: 0, thread: false, listens: false }
    expect(shareConnections(2)).toEqual({ vital: 1, work: 1, ...none })
    expect(shareConnections(3)).toEqual({ vital: 1, work: 1, ...none, thread: true })
    expect(shareConnections(4)).toEqual({ vital: 1, work: 1, handler: 0, thread: true, listens: true })
    expect(shareConnections(5)).toEqual({ vital: 1, work: 1, handler: 1, thread: true, listens: true })
  })

  it("are those of the defaults when nothing is said", () => {
    const { workConnections: work, vitalConnections: vital, handlerConnections: handler } = DEFAULTS
    expect(shareConnections(MOST_CONNECTIONS)).toEqual({ vital, work, handler, thread: true, listens: true })
  })
})
