/** Looks on from outside, beside every fault: counts runs, and follows schedules. */
import type { Server } from "../database/server.ts"
import type { Kernel } from "../kernel/kernel.ts"
import type { Pen } from "./recorder.ts"

export interface ObserverParts {
  readonly kernel: Kernel
  readonly server: Server
  readonly schema: string
  readonly record: Pen
  readonly hasSchedules: boolean
}

export interface Observer {
  /** Looks again and again, until it is told to stop. */
  readonly watch: () => void
  readonly stop: () => void
}

const EVERY_US = 1_500_000

export function createObserver({ kernel, server, schema, record, hasSchedules }: ObserverParts): Observer {
  const s = `"${schema}"`
  let isOver = false

  /** One snapshot: live runs by their state, the others by how they ended last. */
  function count(): void {
    const { rows } = server.ask({
      name: "observer/count",
      text: `with ended as (
          select distinct on (run) run, run_state from ${s}.attempts order by run, generation desc, run_state nulls last
        ),
        gone as (select * from ended where not exists (select from ${s}.runs where id = run))
        select state, count(*) from ${s}.runs group by state
        union all select coalesce(run_state, 'nowhere'), count(*) from gone group by run_state
        union all select null, count(*) from (select id from ${s}.runs union select run from ended) as known`,
      values: [],
    })
    const states: Record<string, number> = {}
    let enqueued = 0
    for (const [state, times] of rows) {
      if (state === null || state === undefined) enqueued = Number(times)
      // What has left the live ones without an end is in no state.
      else if (state !== "nowhere") states[state] = Number(times)
    }
    record("count", { states, enqueued })
  }

  function followSchedules(): void {
    const { rows } = server.ask({
      name: "observer/cursors",
      text: `select id, version, (extract(epoch from cursor) * 1000000)::bigint from ${s}.schedules order by name`,
      values: [],
    })
    for (const [schedule, version, cursorUs] of rows) {
      record("cursor", {
        schedule: schedule ?? "",
        version: Number(version),
        cursorUs: Number(cursorUs),
      })
    }
  }

  function look(): void {
    if (isOver) return
    if (server.isIdle()) {
      count()
      if (hasSchedules) followSchedules()
    }
    kernel.after(EVERY_US, look)
  }

  return {
    watch: look,
    stop: () => {
      isOver = true
    },
  }
}
