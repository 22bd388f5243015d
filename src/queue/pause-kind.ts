/** What can be paused. */
export const PAUSE_KINDS = ["job", "pool", "tenant", "everything"] as const

export type PauseKind = (typeof PAUSE_KINDS)[number]
