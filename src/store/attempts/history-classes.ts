/** The classes of history. Each class is kept for its own time, in its own table with one partition per day. */
import { DEFAULTS } from "../../defaults.ts"

export type HistoryClass = "short" | "standard" | "long"

export interface ClassFacts {
  /** The parent table of its days. */
  readonly table: string
  /** The least time for which an attempt is kept after it ended. Its day is dropped as a whole. */
  readonly keepMs: number
}

export const HISTORY_CLASSES = {
  short: { table: "attempts_short", keepMs: DEFAULTS.historyShortMs },
  standard: { table: "attempts_standard", keepMs: DEFAULTS.historyMs },
  long: { table: "attempts_long", keepMs: DEFAULTS.historyLongMs },
} as const satisfies Record<HistoryClass, ClassFacts>
