/** A lane: the runs of one pool with one priority. Runs that are never claimed ahead (solo) have lanes of their own. */

export interface Lane {
  readonly pool: string
  readonly solo: boolean
  readonly priority: number
}

/** A lane in which runs became ready, at this rank or a higher one. */
export interface ReadyLane extends Lane {
  readonly rank: bigint
}

/** The name of a lane within its pool. */
export function laneKey({ solo, priority }: Pick<Lane, "solo" | "priority">): string {
  return `${solo ? "solo" : "any"}:${priority}`
}
