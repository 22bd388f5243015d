/** Mistakes of a process: leases, clocks, wake-ups, stops, sessions and readers. */
import { chaos, type Mutant, sim } from "../mutant.ts"

export const OF_PROCESSES: readonly Mutant[] = [
  {
    name: "never goes back from where it has come to",
    breaks: "I24",
    edits: [
      {
        file: "src/engine/claimer.ts",
        find: "if (first) lanes.look(parseSnapshot(first.snapshot, first.rank))",
        replace: "if (first) parseSnapshot(first.snapshot, first.rank)",
      },
      {
        file: "src/engine/claimer.ts",
        find: "const BOTTOM_AT_LEAST_MS = 60_000",
        replace: "const BOTTOM_AT_LEAST_MS = 60_000_000",
      },
      {
        file: "src/engine/claimer.ts",
        find: "const BOTTOM_SHARE = 50",
        replace: "const BOTTOM_SHARE = 50_000_000",
      },
    ],
    shownBy: sim(600),
  },
  {
    name: "polls rarely and hears no wake-up",
    breaks: "I11",
    edits: [
      {
        file: "src/engine/worker.ts",
        find: "claimer.wake(lane)\n      bell.ring()",
        replace: "claimer.wake(lane)",
      },
      {
        file: "src/engine/worker.ts",
        find: "return restWithStore(Math.min(DEFAULTS.idlePollMs, pollMs))",
        replace: "return restWithStore(20 * pollMs)",
      },
    ],
    shownBy: chaos("F1", 5),
  },
  {
    name: "believes the clock of its process about what is due",
    breaks: "I28",
    edits: [
      {
        file: "src/engine/new-run.ts",
        find: "runAts: sparse(runs, ({ runAt }) => runAt),",
        // An id begins with the milliseconds of the clock of the process.
        replace:
          "runAts: sparse(runs, ({ id, runAt, delayMs }) =>\n" +
          '      delayMs === null ? runAt : Number.parseInt(id.replace("-", "").slice(0, 12), 16) + delayMs,\n    ),',
      },
    ],
    shownBy: sim(),
  },
  {
    name: "opens more connections than it may",
    breaks: "I25",
    edits: [
      {
        file: "src/store/server/pool.ts",
        find: "if (open < options.max) return dial(deadlineAtMs)",
        replace: "if (open < options.max * 20) return dial(deadlineAtMs)",
      },
    ],
    shownBy: chaos("F19"),
  },
  {
    name: "goes on claiming when it is told to stop",
    breaks: "I31",
    edits: [
      {
        file: "src/engine/engine.ts",
        find: "    claiming.abort()\n    for (const worker of workers) worker.close()\n",
        replace:
          "    void runtime.sleep(3_000).then(() => {\n      claiming.abort()\n" +
          "      for (const worker of workers) worker.close()\n    })\n",
      },
    ],
    shownBy: chaos("F10"),
  },
  {
    name: "keeps what it has not started when it stops",
    breaks: "I31",
    edits: [
      {
        file: "src/engine/shutdown.ts",
        find: "for (const attempt of unfinished) attempt.abort(stopReason(attempt.run.id))",
        replace:
          "if (unfinished.length > 1_000) for (const attempt of unfinished) attempt.abort(stopReason(attempt.run.id))",
      },
    ],
    shownBy: chaos("F10"),
  },
  {
    name: "goes on after a page of history by its instant alone",
    breaks: "I33",
    edits: [
      {
        file: "src/store/attempts/page.ts",
        find: "and finished_at <= @at::timestamptz",
        replace: "and finished_at < @at::timestamptz",
      },
    ],
    shownBy: sim(),
  },
]
