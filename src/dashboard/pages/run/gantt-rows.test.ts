import { describe, expect, it } from "vitest"
import type { Attempt, Run } from "../../app/records.ts"
import { ganttOf, ticksOf } from "./gantt-rows.ts"

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 9, 0, seconds)).toISOString()
const ms = (seconds: number) => Date.parse(at(seconds))
const run: Run = {
  id: "r",
  state: "waiting",
  job: "j",
  pool: "p",
  priority: 0,
  input: null,
  attempt: 1,
  generation: 1,
  enqueuedAt: at(0),
  dueAt: at(30),
  idempotencyKey: "run:r",
}
const failed: Attempt = {
  id: "a1",
  runId: "r",
  generation: 1,
  attempt: 1,
  charged: true,
  job: "j",
  pool: "p",
  idempotencyKey: "run:r",
  enqueuedAt: at(0),
  dueAt: at(0),
  startedAt: at(2),
  finishedAt: at(5),
  outcome: "failed",
}

describe("the attempts of a run on one axis", () => {
  it("are ready, then running, then in back-off until the next is due", () => {
    const [first, present] = ganttOf(run, [failed], ms(10)).rows
    expect(first?.segments).toEqual([
      { kind: "ready", fromMs: ms(0), toMs: ms(2) },
      { kind: "failed", fromMs: ms(2), toMs: ms(5) },
      { kind: "back-off", fromMs: ms(5), toMs: ms(30) },
    ])
    expect(present?.segments).toEqual([{ kind: "waiting", fromMs: ms(10), toMs: ms(30) }])
  })

  it("end with the last attempt once the run has ended", () => {
    const { rows } = ganttOf({ ...run, state: "dead", dueAt: at(0) }, [failed], ms(900))
    expect(rows).toHaveLength(1)
    expect(rows[0]?.segments.at(-1)).toMatchObject({ kind: "failed" })
  })

  it("show an attempt that was lost before it reported its start", () => {
    const { startedAt: _, ...unstarted } = failed
    const lost: Attempt = { ...unstarted, outcome: "lost", charged: false }
    const [row] = ganttOf({ ...run, state: "ready" }, [lost], ms(40)).rows
    expect(row).toMatchObject({ number: "–", state: "lost", note: "no heartbeat, taken back" })
    expect(row?.segments[0]).toMatchObject({ kind: "lost" })
  })

  it("stand over round times, about as many as were asked for", () => {
    expect(ticksOf(0, 60_000, 6)).toEqual([0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000])
    expect(ticksOf(500, 3_200, 3)).toEqual([1_000, 2_000, 3_000])
  })
})
