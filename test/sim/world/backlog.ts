/** The work that is left, seen by an observer beside every fault. */
import type { Server } from "../database/server.ts"

export interface Backlog {
  /** How many runs there are that have not ended. */
  readonly left: () => number
  /** The same in words. */
  readonly leftover: () => string
  /** How many runs the longest line under a limit has. */
  readonly longestLine: () => number
  /** Where each active schedule stands, by its name. */
  readonly standings: () => ReadonlyMap<string, Standing>
}

export interface Standing {
  /** When it is due next; empty for one that waits for the end of its run. */
  readonly nextAt: string
  /** Overdue, or waiting for the end of a run that does not exist. */
  readonly isBehind: boolean
}

/** Longer than a scheduler sleeps. */
const BEHIND = "interval '2 seconds'"

export function createBacklog(server: Server, schema: string): Backlog {
  const s = `"${schema}"`
  const ask = (text: string) => server.ask({ text }).rows
  const askNumber = (text: string) => Number(ask(text)[0]?.[0])
  return {
    left: () => askNumber(`select count(*) from ${s}.runs`),
    leftover: () =>
      ask(
        `select job, ${s}.state(runs), parked_for, count(*) from ${s}.runs group by 1, 2, 3 order by 1, 2, 3`,
      )
        .map((row) => row.join(" "))
        .join("; "),
    longestLine: () =>
      askNumber(`select coalesce(max(many), 0) from (
        select count(*) as many from ${s}.run_limits group by key) as lines`),
    standings: () => {
      const rows = ask(`select name, next_at, case
          when next_at is null then not exists (select from ${s}.runs where schedule = schedules.id::text)
          else next_at < to_timestamp(${server.clockUs() / 1_000_000}) - ${BEHIND}
        end
        from ${s}.schedules where state = 'active' order by name`)
      return new Map(
        rows.map(([name, nextAt, isBehind]) => [
          name ?? "",
          { nextAt: nextAt ?? "", isBehind: isBehind === "t" },
        ]),
      )
    },
  }
}

/** Schedules that have not moved on since, and schedules that are behind: no scheduler looks after them. */
export function standingStill(
  before: ReadonlyMap<string, Standing>,
  now: ReadonlyMap<string, Standing>,
): string[] {
  return [...now].flatMap(([name, { nextAt, isBehind }]) => {
    const hasMoved = nextAt === "" || nextAt !== before.get(name)?.nextAt
    return hasMoved && !isBehind ? [] : [name]
  })
}
