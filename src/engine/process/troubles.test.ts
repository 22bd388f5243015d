import { expect, it } from "vitest"
import { DatabaseError } from "../../errors.ts"
import { createEvents } from "../../observe/create-events.ts"
import type { CarillonEvent } from "../../observe/events.ts"
import { createTroubles } from "./troubles.ts"

const gone = (sqlState: string) => new DatabaseError("SCHEMA_MISMATCH", "gone", { sqlState })
const { signal } = new AbortController()

function listen() {
  const told: string[] = []
  const events = createEvents(() => {})
  events.subscribe((event: CarillonEvent) => void told.push(event.type))
  return { told, troubles: createTroubles(events, "carillon") }
}

it("a vanished schema is told once by eight loops, and once when it is back", async () => {
  const { told, troubles } = listen()
  const names = Array.from({ length: 8 }, (_, index) => `loop ${index}`)
  for (let second = 1; second <= 60; second += 1) {
    for (const name of names) troubles.loopFailed(name)(gone(second % 2 ? "42P01" : "3F000"), second)
    troubles.failed("settler")(gone("42P01"), second)
  }
  expect(told).toEqual(["schema.missing"])
  for (const name of names) {
    const bell = { ring: () => {}, rest: async () => {} }
    expect(await troubles.watched({ name, bell, tick: async () => 7 }).tick(signal)).toBe(7)
  }
  expect(told).toEqual(["schema.missing", "schema.restored"])
  troubles.loopFailed("loop 1")(gone("3F000"), 1)
  expect(told).toEqual(["schema.missing", "schema.restored", "schema.missing"])
})

it("other failures are told each time, also during a trouble", () => {
  const { told, troubles } = listen()
  troubles.loopFailed("one")(new DatabaseError("DATABASE_READ_ONLY", "standby"), 1)
  troubles.loopFailed("two")(new Error("another"), 1)
  troubles.failed("three")(new Error("another"), 1)
  expect(told).toEqual(["database.read-only", "loop.failed", "loop.failed"])
})
