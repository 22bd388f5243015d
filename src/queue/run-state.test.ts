import { describe, expect, it } from "vitest"
import { RUN_LIFE, type RunState } from "./run-state.ts"

const states = Object.keys(RUN_LIFE) as RunState[]

describe("the life of a run", () => {
  it("leads from every live state to an end", () => {
    const ends = (state: RunState, seen: readonly RunState[] = []): boolean => {
      const next = Object.values(RUN_LIFE[state]) as RunState[]
      return next.length === 0 || next.some((to) => !seen.includes(to) && ends(to, [...seen, state]))
    }
    expect(states.filter((state) => !ends(state))).toEqual([])
  })

  it("leaves a final state only for a dead run, and only when someone acts", () => {
    expect(states.filter((state) => Object.keys(RUN_LIFE[state]).length === 0)).toEqual([
      "succeeded",
      "cancelled",
      "expired",
      "discarded",
    ])
    expect(Object.keys(RUN_LIFE.dead)).toEqual(["replay", "park", "discard"])
  })

  it("lets only ready runs be claimed and only running ones succeed", () => {
    const statesBefore = (event: string) => states.filter((state) => event in RUN_LIFE[state])
    expect(statesBefore("claim")).toEqual(["ready"])
    expect(statesBefore("succeed")).toEqual(["running"])
    expect(statesBefore("expire")).toEqual(["running"])
  })

  it("lets every run that has not ended be cancelled, and no other", () => {
    const live = ["waiting", "parked", "ready", "running"]
    expect(states.filter((state) => "cancel" in RUN_LIFE[state])).toEqual(live)
  })
})
