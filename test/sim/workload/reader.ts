/** Readers of all runs: page by page, again and again while runs end, and once more when everything has ended. */
import { DEFAULTS } from "../../../src/defaults.ts"
import { CarillonError, DatabaseError } from "../../../src/errors.ts"
import type { Life } from "../world/process.ts"
import type { Pen } from "../world/recorder.ts"
import { describe, isUnexpected } from "../world/unexpected-errors.ts"

export interface Following {
  /** No later end is worth following. */
  readonly isOver: () => boolean
  /** Everything has healed: less can go wrong. */
  readonly isCalm: () => boolean
  readonly onTrouble: (says: string) => void
}

const PAGE = 7
const CALM_REST_MS = 5_000

/** Begins anew whenever it has come to the end, for as long as the process lives. What it cannot read it gives up. */
export async function followRuns(life: Life, { isOver, isCalm, onTrouble }: Following): Promise<void> {
  const { host, record } = life
  const chance = life.chance.fork("reader")
  const pause = () => (chance.happens(0.5) ? host.sleep(chance.skewed(1, 300)) : undefined)
  while (life.isAlive()) {
    await host.sleep(isCalm() ? CALM_REST_MS : chance.skewed(20, 1_500))
    if (isOver()) return
    record("reader_from", {})
    try {
      await readPages(life, { record, limit: chance.pick([2, 3, PAGE]), pause })
    } catch (error) {
      record("reader_gone", {})
      if (error instanceof CarillonError && error.code === "CLOSED") return
      if (isUnexpected(error)) onTrouble(`a reader was told ${describe(error)}`)
    }
  }
}

/** All runs, through this process. A reader without a recorded begin starts when everything has ended. */
export async function readAllRuns(life: Life, record: Pen): Promise<void> {
  await readPages(life, { record, limit: PAGE, pause: () => undefined })
}

interface Reading {
  readonly record: Pen
  readonly limit: number
  /** Before the next page. */
  readonly pause: () => Promise<void> | undefined
}

async function readPages({ carillon }: Life, { record, limit, pause }: Reading): Promise<void> {
  let cursor: string | undefined
  do {
    const place = cursor === undefined ? {} : { cursor }
    const page = await persist(() => carillon.runs.list({ limit, ...place }))
    for (const { id: run } of page.items) record("seen", { run })
    cursor = page.nextCursor
    if (cursor !== undefined) await pause()
  } while (cursor !== undefined)
  record("reader_done", {})
}

/** A connection may have ended when something was still broken, without a use since: a reader asks again. */
async function persist<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof DatabaseError) || tries === DEFAULTS.workConnections) throw error
    }
  }
}
