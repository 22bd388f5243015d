/**
 * Lists dead letters, newest first, a page at a time.
 *
 * Every letter that was committed before the first page, and is still there when its page is read, is on one page, and
 * none is on two. A run that dies meanwhile is above the first page: it is new to a list that begins again.
 */
import type { Runtime } from "../../runtime/runtime.ts"
import { chooseLetters, type LetterFilter, type LetterPlace } from "../../store/dead-letters/choose.ts"
import { loadLetters } from "../../store/dead-letters/load.ts"
import { type DeadLetter, type LoadedLetter, lettersOf } from "./letter.ts"

export interface ListRequest {
  readonly filter: LetterFilter
  readonly limit: number
  readonly below: LetterPlace | undefined
}

export interface ListAnswer {
  readonly items: readonly DeadLetter[]
  /** Where the next page begins; `undefined` if this one is the last. */
  readonly next: LetterPlace | undefined
}

/** How many letters are loaded at once: each may have a megabyte of input. */
const LOADED_AT_ONCE = 50
/** A page ends early when it holds so many characters of inputs. */
const FULL_LENGTH = 8 * 1024 * 1024

export async function list({ database }: Runtime, request: ListRequest): Promise<ListAnswer> {
  const { filter, limit, below } = request
  const found = await chooseLetters(database, { ...filter, below, limit: limit + 1 })
  const rows: LoadedLetter[] = []
  let length = 0
  let shown = 0
  while (shown < Math.min(limit, found.length) && length < FULL_LENGTH) {
    const some = found.slice(shown, Math.min(limit, shown + LOADED_AT_ONCE))
    const loaded = await database.run(loadLetters, { runs: some.map(({ run }) => run) })
    const byRun = new Map(loaded.map((row) => [row.run, row]))
    // A run that died again meanwhile belongs above the first page.
    rows.push(
      ...some.flatMap(({ run, generation }) => {
        const row = byRun.get(run)
        return row?.generation === generation ? [row] : []
      }),
    )
    for (const { input } of loaded) length += input.length
    shown += some.length
  }
  const last = found[shown - 1]
  return {
    items: await lettersOf(database, rows),
    next: last && shown < found.length ? { at: last.at, run: last.run } : undefined,
  }
}
