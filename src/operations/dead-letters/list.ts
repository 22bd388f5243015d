/**
 * Lists dead letters, newest first, a page at a time.
 *
 * Every letter that was committed before the first page, and is still there when its page is read, is on one page, and
 * none is on two. A run that dies meanwhile is above the first page: it is new to a list that begins again.
 */

import type { Filter } from "../../filter/filter.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { LetterPlace } from "../../store/dead-letters/choose.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { Run } from "../runs/run.ts"
import { chooseLetters } from "./choose.ts"
import { loadLetters } from "./load.ts"

export interface ListRequest {
  readonly filter: Filter
  readonly limit: number
  readonly below: LetterPlace | undefined
  /** The moment that relative times are counted from. `undefined` for now. */
  readonly nowMs: InstantMs | undefined
  /** How many letters a page looks at. */
  readonly budget: number
}

export interface ListAnswer {
  readonly items: readonly Run[]
  /** Where the next page begins; `undefined` if this one is the last. */
  readonly next: LetterPlace | undefined
  readonly nowMs: InstantMs
  /** The budget, if the page came to the end of it. */
  readonly searched: number | undefined
}

/** How many letters are loaded at once: each may have a megabyte of input. */
const LOADED_AT_ONCE = 50
/** A page ends early when it holds so many characters of inputs. */
const FULL_LENGTH = 8 * 1024 * 1024

export async function list({ database }: Runtime, request: ListRequest): Promise<ListAnswer> {
  const { letters, rest, isSearched, nowMs } = await chooseLetters(database, request)
  const items: Run[] = []
  let length = 0
  let shown = 0
  while (shown < letters.length && length < FULL_LENGTH) {
    const some = letters.slice(shown, shown + LOADED_AT_ONCE)
    // A run that died again meanwhile belongs above the first page, so it is not loaded.
    const loaded = await loadLetters(database, some)
    for (const letter of loaded) {
      items.push(letter.run)
      length += letter.length
    }
    shown += some.length
  }
  const isCut = shown < letters.length
  const next = isCut ? letters[shown - 1] : rest
  return {
    items,
    next: next && { at: next.at, run: next.run },
    nowMs,
    searched: isSearched && !isCut ? request.budget : undefined,
  }
}
