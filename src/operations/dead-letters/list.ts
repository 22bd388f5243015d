/**
 * Lists dead letters, newest first, a page at a time.
 *
 * Every letter that was committed before the first page, and is still there when its page is read, is on one page, and
 * none is on two. A run that dies meanwhile is above the first page: it is new to a list that begins again.
 */
import type { Runtime } from "../../runtime/runtime.ts"
import { chooseLetters, type LetterFilter, type LetterPlace } from "../../store/dead-letters/choose.ts"
import type { Run } from "../runs/run.ts"
import { loadLetters } from "./load.ts"

export interface ListRequest {
  readonly filter: LetterFilter
  readonly limit: number
  readonly below: LetterPlace | undefined
}

export interface ListAnswer {
  readonly items: readonly Run[]
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
  const items: Run[] = []
  let length = 0
  let shown = 0
  while (shown < Math.min(limit, found.length) && length < FULL_LENGTH) {
    const some = found.slice(shown, Math.min(limit, shown + LOADED_AT_ONCE))
    // A run that died again meanwhile belongs above the first page, so it is not loaded.
    const loaded = await loadLetters(database, some)
    for (const letter of loaded) {
      items.push(letter.run)
      length += letter.length
    }
    shown += some.length
  }
  const last = found[shown - 1]
  return {
    items,
    next: last && shown < found.length ? { at: last.at, run: last.run } : undefined,
  }
}
