import { describe, expect, it } from "vitest"
import { judgeSqlState } from "./sql-state.ts"

describe("judgeSqlState", () => {
  it.each([
    ["a deadlock", "40P01", "retry"],
    ["a serialisation failure", "40001", "retry"],
    ["a lock timeout", "55P03", "retry"],
    ["too many connections", "53300", "retry"],
    ["a server that is starting", "57P03", "retry"],
    ["a server that is read-only", "25006", "evict"],
    ["a session ended by the server", "57P01", "unknown"],
    ["a connection that broke", "08006", "unknown"],
    ["a full disk", "53100", "wait"],
    ["a NUL inside JSON", "22P05", "poison"],
    ["a broken constraint", "23514", "poison"],
    ["a queue that is full", "54000", "poison"],
    ["a missing table", "42P01", "version"],
    ["a plan that no longer fits", "0A000", "version"],
    ["a syntax error", "42601", "fault"],
  ])("knows %s (%s): %s", (_, code, verdict) => {
    expect(judgeSqlState(code)).toBe(verdict)
  })
})
