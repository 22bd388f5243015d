/** Mistakes of a process: leases, clocks, wake-ups, stops, sessions and readers. */
import { chaos, type Mutant, sim } from "../mutant.ts"

/** An id begins with the milliseconds of the clock of the process that made it. */
const timeOf = (id: string) =>
  `to_timestamp(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`
const TIME_OF_ID = timeOf("id")

export const OF_PROCESSES: readonly Mutant[] = [
  {
    name: "never goes back from where it has come to",
    breaks: "I24",
    edits: [
      {
        file: "src/engine/queue/lanes.ts",
        find: "lowWater.wake(laneKey(lane), lane.rank)\n",
        replace: "",
      },
      { file: "src/engine/queue/lanes.ts", find: "look: lowWater.look,", replace: "look: () => {}," },
      {
        file: "src/engine/queue/lanes.ts",
        find: "order((lane) => ({ from: BOTTOM, to: lowWater.mark(lane) }), wanted)",
        replace: "order(() => ({ from: BOTTOM, to: BOTTOM }), wanted)",
      },
    ],
    // The simulated server has no two transactions at once, so that nothing is committed late there.
    shownBy: chaos("F19"),
  },
  {
    name: "polls rarely and hears no wake-up",
    breaks: "I11",
    edits: [
      {
        file: "src/engine/queue/pool-loop.ts",
        find: "claimer.wake(lane)\n    callAgain()",
        replace: "claimer.wake(lane)",
      },
      {
        file: "src/engine/queue/pool-loop.ts",
        find: "stock.restMs(pollRestMs(emptyTicks))",
        replace: "stock.restMs(20 * pollRestMs(emptyTicks))",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "takes the time of an enqueue from its id, which is made by the clock of a process",
    breaks: "I28",
    edits: [
      {
        file: "src/store/runs/insert-plain.ts",
        find: "at, at, input, @history",
        replace: `${TIME_OF_ID}, at, input, @history`,
      },
      ...["insert-one", "hand-off"].map((name) => ({
        file: `src/store/runs/${name}.ts`,
        find: "at, at, @input",
        replace: `${timeOf("@id")}, at, @input`,
      })),
      {
        file: "src/store/runs/insert-delayed.ts",
        find: "'waiting', at, at + delay_ms",
        replace: `'waiting', ${TIME_OF_ID}, at + delay_ms`,
      },
      {
        file: "src/store/runs/insert.ts",
        find: "@limited, @limited, (select at from moment), due_at,",
        replace: `@limited, @limited, ${TIME_OF_ID}, due_at,`,
      },
    ],
    shownBy: sim(),
  },
  {
    name: "renews a lease by the clock of its process",
    breaks: "I24",
    edits: [
      {
        file: "src/store/workers/renew.ts",
        find: "set expires_at = {now} + @leaseMs",
        replace: `set expires_at = {now} + (${timeOf("lease")} - started_at) + @leaseMs`,
      },
    ],
    shownBy: sim(),
  },
  {
    name: "renews a lease that others have taken for dead",
    breaks: "I24",
    edits: [
      {
        file: "src/store/workers/renew.ts",
        find: "where lease = @lease and not dead",
        replace: "where lease = @lease",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "does not tell a handler that its run was cancelled",
    breaks: "I23",
    edits: [
      {
        file: "src/engine/queue/pool-loop.ts",
        find: "executor.abort(id, isReplaced ? replaceReason(id) : cancelReason(id))",
        replace: 'executor.abort(isReplaced ? id : "", isReplaced ? replaceReason(id) : cancelReason(id))',
      },
    ],
    shownBy: sim(),
  },
  {
    name: "takes others for dead as soon as the server is back",
    breaks: "I24",
    edits: [
      {
        file: "src/store/workers/mark-dead.ts",
        find: "pg_catalog.pg_postmaster_start_time() + @upForMs * interval",
        replace: "pg_catalog.pg_postmaster_start_time() + 0 * @upForMs * interval",
      },
    ],
    shownBy: chaos("F40", 12),
  },
  {
    name: "forgets connections that it has no use for, without closing them",
    breaks: "I25",
    edits: [
      {
        file: "src/store/server/pool.ts",
        find: "else idle.push(connection)",
        // Now and then: if always, the server would have no connection left for the checker.
        replace: "else if (idle.length < 2 || Math.random() > 0.1) idle.push(connection)\n    else open -= 1",
      },
    ],
    shownBy: chaos("F21"),
  },
  {
    name: "goes on claiming when it is told to stop",
    breaks: "I31",
    edits: [
      {
        file: "src/engine/engine.ts",
        find: "    claiming.abort()\n    for (const poolLoop of poolLoops) poolLoop.close()\n",
        replace:
          "    void runtime.sleep(3_000).then(() => {\n      claiming.abort()\n" +
          "      for (const poolLoop of poolLoops) poolLoop.close()\n    })\n",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "asks for more when the database is back, although it was told to stop",
    breaks: "I31",
    edits: [
      {
        file: "src/store/server/server.ts",
        find: "if (call.unless?.aborted) throw closedError()\n          return",
        replace: "if (call.unless?.aborted && deadlineAtMs < 0) throw closedError()\n          return",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "keeps what it has not finished when it stops",
    breaks: "I31",
    edits: [
      {
        file: "src/engine/shutdown.ts",
        find: "for (const attempt of unfinished) attempt.abort(stopReason(attempt.run.id))",
        replace:
          "if (unfinished.length > 1_000) for (const attempt of unfinished) attempt.abort(stopReason(attempt.run.id))",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "tells the last run of a page again on the next",
    breaks: "I33",
    edits: [
      {
        file: "src/store/filtered/candidates.ts",
        find: "where @asksEnded and run < @below",
        replace: "where @asksEnded and run <= @below",
      },
    ],
    shownBy: sim(),
  },
]
