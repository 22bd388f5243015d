/** The classes of history: each is kept for its own time, in a table of its own with one partition per day. */
import { DEFAULTS } from "../../defaults.ts"

export type HistoryClass = "short" | "standard" | "long"

export interface ClassFacts {
  /** The parent of its days. */
  readonly table: string
  /** How long an attempt is kept after it has ended, at the least; its day leaves as a whole. */
  readonly keepMs: number
}

export const HISTORY_CLASSES = {
  short: { table: "attempts_short", keepMs: DEFAULTS.historyShortMs },
  standard: { table: "attempts_standard", keepMs: DEFAULTS.historyMs },
  long: { table: "attempts_long", keepMs: DEFAULTS.historyLongMs },
} as const satisfies Record<HistoryClass, ClassFacts>
