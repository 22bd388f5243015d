/** The messages between processes, one line each. */
import type { ReadyLane } from "../queue/lane.ts"

export type WakeupMessage =
  | { readonly about: "ready"; readonly lane: ReadyLane }
  | { readonly about: "waiting" }
  | { readonly about: "schedules" }
  | { readonly about: "resumed" }
  | { readonly about: "bulk" }
  | { readonly about: "overrides" }
  | { readonly about: "cancelled"; readonly run: string }

/** The largest integer of the database. */
const MOST_PRIORITY = 2 ** 31 - 1

export function formatMessage(message: WakeupMessage): string {
  switch (message.about) {
    case "ready": {
      const { pool, solo, priority, rank } = message.lane
      return `ready ${solo ? "solo" : "any"} ${priority} ${rank} ${pool}`
    }
    case "waiting":
    case "schedules":
    case "resumed":
    case "bulk":
    case "overrides":
      return message.about
    case "cancelled":
      return `cancelled ${message.run}`
  }
}

/** Any client may send on the channel, and so may another version. Unreadable lines are ignored. */
export function parseMessage(line: string): WakeupMessage | undefined {
  const ready = /^ready (solo|any) (-?\d{1,10}) (-?\d{1,18}) (.+)$/.exec(line)
  if (ready) {
    const [, solo, priority = "0", rank = "0", pool = ""] = ready
    // No run has such a priority, and no claim could ask for it.
    if (Math.abs(Number(priority)) > MOST_PRIORITY) return undefined
    return {
      about: "ready",
      lane: { pool, solo: solo === "solo", priority: Number(priority), rank: BigInt(rank) },
    }
  }
  if (line === "waiting" || line === "schedules" || line === "resumed") return { about: line }
  if (line === "bulk" || line === "overrides") return { about: line }
  const cancelled = /^cancelled ([0-9a-f-]{36})$/.exec(line)
  return cancelled ? { about: "cancelled", run: cancelled[1] ?? "" } : undefined
}
