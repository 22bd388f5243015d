import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { occurrenceId, occurrenceKey } from "./occurrence-id.ts"

const schedules = fc.uuid()
const instants = fc.integer({ min: 0, max: 253_402_300_799_999 })

describe("the id of an occurrence's run", () => {
  it("is a UUID of version 8", () => {
    fc.assert(
      fc.property(schedules, instants, (schedule, at) => {
        expect(occurrenceId(schedule, at)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        )
      }),
    )
  })

  it("is the same for everybody, for ever", () => {
    expect(occurrenceId("01890a5d-ac96-774b-bcce-b302099a8057", 1_772_355_600_000)).toBe(
      occurrenceId("01890a5d-ac96-774b-bcce-b302099a8057", 1_772_355_600_000),
    )
    // Written down: ids that are stored must be found again by every later version.
    expect(occurrenceId("01890a5d-ac96-774b-bcce-b302099a8057", 1_772_355_600_000)).toMatchInlineSnapshot(
      `"019ca8a0-3e80-8caa-a96b-4820cd229422"`,
    )
  })

  it("goes by the time of the occurrence", () => {
    fc.assert(
      fc.property(schedules, schedules, instants, instants, (one, other, at, later) => {
        fc.pre(at < later)
        expect(occurrenceId(one, at) < occurrenceId(other, later)).toBe(true)
      }),
    )
  })

  it("differs by schedule, occurrence and generation", () => {
    const ids = new Set<string>()
    for (let schedule = 0; schedule < 200; schedule += 1) {
      for (let minute = 0; minute < 200; minute += 1) {
        for (const generation of [1, 2]) ids.add(occurrenceId(`s${schedule}`, minute * 60_000, generation))
      }
    }
    expect(ids.size).toBe(200 * 200 * 2)
  })
})

describe("the idempotency key of an occurrence's run", () => {
  it("is that of the occurrence for the first, and one of its own for each that is made of it again", () => {
    fc.assert(
      fc.property(schedules, instants, fc.integer({ min: 2, max: 9 }), (schedule, at, generation) => {
        const [first, again] = [occurrenceId(schedule, at), occurrenceId(schedule, at, generation)]
        const instant = new Date(at).toISOString()
        expect(occurrenceKey(first, schedule, at)).toBe(`schedule:${schedule}:occurrence:${instant}`)
        expect(occurrenceKey(again, schedule, at)).toBe(`run:${again}`)
      }),
    )
  })
})
