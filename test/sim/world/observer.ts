/** An observer beside every fault: counts runs, follows those with earlier attempts, and schedules. */
import { countRuns, countsOf, standingOf, standingRuns } from "../../support/history/observer-snapshot.ts"
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

  function count(): void {
    const { rows } = server.ask({ name: "observer/count", text: countRuns(schema), values: [] })
    record("count", countsOf(rows.map(([state, many]) => [state ?? null, Number(many)])))
  }

  function lookAtTried(): void {
    const { rows } = server.ask({ name: "observer/standing", text: standingRuns(schema), values: [] })
    for (const [json] of rows) record("standing", standingOf(json ?? ""))
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
      lookAtTried()
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
