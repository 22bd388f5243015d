/** Where a ready run stands: a pool, apart for runs that are never claimed ahead, and a priority in it. */

export interface Lane {
  readonly pool: string
  readonly solo: boolean
  readonly priority: number
}

/** Something became ready in a lane, with this rank or a higher one. */
export interface ReadyLane extends Lane {
  readonly rank: bigint
}

/** The name of a lane within its pool. */
export function laneKey({ solo, priority }: Pick<Lane, "solo" | "priority">): string {
  return `${solo ? "solo" : "any"}:${priority}`
}
