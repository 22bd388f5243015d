/**
 * The schedule matrix: for every misfire, every overlap, every state of the previous run and every operation, the
 * result for a schedule and its runs. The expected results are in test/support/schedule-matrix.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Cell, nameOf, OPERATIONS, type Operation } from "../support/schedule-matrix/axes.ts"
import { CELLS, expectedOf } from "../support/schedule-matrix/cells.ts"
import { play, refuse } from "../support/schedule-matrix/stage.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

console.log(`${CELLS.length} cells`)

/** In memory: operations that together touch everything: misfire, overlap, rewriting the ledger, runs by hand. */
const IN_MEMORY: readonly Operation[] = ["late", "run now"]

const isRefused = (cell: Cell) => "refused" in expectedOf(cell)

/** Whether its handler is told to end. */
const isAskedToEnd = (cell: Cell) => {
  const expected = expectedOf(cell)
  return "live" in expected && expected.live.some((run) => run.endsWith("cancelling"))
}

describe.each([
  ["postgres18", OPERATIONS],
  ["memory", IN_MEMORY],
] as const)("the matrix of schedules, on %s", (where, operations) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? "memory" : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  it.each(operations)("%s: every cell has the result that its rules ask for", async (operation) => {
    const cells = CELLS.filter((cell) => cell.operation === operation && !isRefused(cell))
    const { outcomes, overlapped, told } = await play(kit, operation, cells)
    for (const cell of cells) {
      const { because, ...wanted } = expectedOf(cell)
      expect.soft(outcomes[nameOf(cell)], `${nameOf(cell)}: ${because}`).toEqual(wanted)
    }
    const allowed = cells.filter(({ overlap }) => overlap === "allow").map(nameOf)
    const beside = [...overlapped].filter((name) => !allowed.includes(name))
    expect.soft(beside, "only allow lets two handlers run at once").toEqual([])
    expect
      .soft([...told].sort(), "only handlers that are replaced are told to end")
      .toEqual(cells.filter(isAskedToEnd).map(nameOf).sort())
  })

  it("an impossible combination is refused when it is created, and no operation works on it", async () => {
    const app = await kit.app({ at: "2026-03-02T08:55Z" })
    for (const cell of CELLS.filter(isRefused)) {
      const { because, ...wanted } = expectedOf(cell)
      expect.soft(await refuse(app, cell), `${nameOf(cell)}: ${because}`).toEqual(wanted)
    }
    await app.clock.advance("1h")
    expect((await app.schedules.list()).schedules).toEqual([])
    await app.close()
  })
})

describe("the matrix of schedules", () => {
  it("has every combination once, and a reason for each", () => {
    expect(new Set(CELLS.map(nameOf)).size).toBe(3 * 5 * 6 * 11)
    expect(CELLS.filter((cell) => expectedOf(cell).because.trim() === "")).toEqual([])
  })
})
