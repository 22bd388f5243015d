/** Merges what three stores say into one page: a pure part of `list.ts`. */

/** A row of the statements that list filtered runs; see store/filtered/listing.ts. */
export interface ListedRow {
  readonly id: string
  readonly store: string
  readonly is_met: boolean
  readonly is_floor: boolean
}

export interface MergedPage {
  /** At most `limit` ids, newest first. */
  readonly ids: readonly string[]
  /** Where the next page begins: below this id. `undefined` if this page is the last. */
  readonly next: string | undefined
}

/**
 * Every store was asked for `limit + 1` rows. One that returned so many, or that came to the end of its budget, may
 * have more below its last row, so nothing below the highest such row can be told yet.
 */
export function mergePage(rows: readonly ListedRow[], limit: number): MergedPage {
  const ends = [...new Set(rows.map(({ store }) => store))].flatMap((store) => {
    const own = rows.filter((row) => row.store === store)
    const last = own.at(-1)
    return last && (own.length > limit || last.is_floor) ? [last.id] : []
  })
  const end = ends.toSorted().at(-1)
  const met = rows.filter(({ id, is_met: isMet }) => isMet && (end === undefined || id >= end))
  const ids = [...new Set(met.map(({ id }) => id))].toSorted().toReversed()
  return ids.length > limit ? { ids: ids.slice(0, limit), next: ids[limit - 1] } : { ids, next: end }
}
