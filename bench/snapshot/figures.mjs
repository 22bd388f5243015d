/** What part "aged" measures, for the part and for the report, which is written where no peer is installed. */

export const AGED_PROCESSES = 4
export const AGED_IN_FLIGHT = 8

export const AGED_FIGURES = [
  { key: "bulk", title: "enqueued in bulk a second", better: "more" },
  { key: "single", title: `one by one, ${AGED_IN_FLIGHT} at once`, better: "more" },
  { key: "drain1", title: "executed a second by 1 process", better: "more" },
  { key: "drain4", title: `by ${AGED_PROCESSES} processes`, better: "more" },
  { key: "sameMs", title: "ms to the start in the same process", better: "less" },
  { key: "otherMs", title: "in another process", better: "less" },
]
