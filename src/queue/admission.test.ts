import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { admit, type InLine } from "./admission.ts"

const room = (places: Readonly<Record<string, number>>) => new Map(Object.entries(places))

describe("admit", () => {
  it("takes runs in the order of the line, as many as there is room for", () => {
    const line = ["a", "b", "c"].map((run) => ({ run, keys: ["k"] }))
    expect(admit(line, room({ k: 2 }))).toEqual(["a", "b"])
    expect(admit(line, room({ k: 0 }))).toEqual([])
    expect(admit(line, room({ k: -3 }))).toEqual([])
    expect(admit(line, room({}))).toEqual([])
  })

  it("takes a run only when all its keys have room, and takes a place under each", () => {
    const line = [
      { run: "both", keys: ["a", "b"] },
      { run: "again", keys: ["a", "b"] },
      { run: "other", keys: ["b"] },
    ]
    expect(admit(line, room({ a: 1, b: 2 }))).toEqual(["both", "other"])
    expect(admit(line, room({ a: 1, b: 0 }))).toEqual([])
  })

  it("takes a run once, although the line names it under each of its keys", () => {
    const both = { run: "both", keys: ["a", "b"] }
    expect(admit([both, both], room({ a: 2, b: 2 }))).toEqual(["both"])
  })

  it("leaves the room that it was given as it was", () => {
    const given = room({ k: 1 })
    admit([{ run: "a", keys: ["k"] }], given)
    expect(given).toEqual(room({ k: 1 }))
  })

  it("never exceeds the room, and passes over no run that has a place", () => {
    const keys = fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 })
    const lines = fc
      .array(keys)
      .map((all) => all.map((own, place): InLine => ({ run: `${place}`, keys: own })))
    const rooms = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.integer({ min: -1, max: 3 }))
    fc.assert(
      fc.property(lines, rooms, (line, places) => {
        const admitted = admit(line, room(places))
        const left = { ...places }
        for (const { run, keys: own } of line) {
          const hasRoom = own.every((key) => (left[key] ?? 0) > 0)
          expect(admitted.includes(run)).toBe(hasRoom)
          if (hasRoom) for (const key of own) left[key] = (left[key] ?? 0) - 1
        }
        expect(admitted).toEqual(line.map(({ run }) => run).filter((run) => admitted.includes(run)))
      }),
    )
  })
})
