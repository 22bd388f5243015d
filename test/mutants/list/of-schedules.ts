/** Mistakes about schedules: occurrences that are lost, doubled or made at the wrong time. */
import { type Mutant, sim } from "../mutant.ts"

export const OF_SCHEDULES: readonly Mutant[] = [
  {
    name: "makes up for every occurrence where the newest would do",
    breaks: "I9",
    edits: [
      {
        file: "src/schedule/stored.ts",
        find: "policy: readPolicy(settings, job),",
        replace: 'policy: { ...readPolicy(settings, job), misfire: readPolicy({ misfire: "all" }).misfire },',
      },
    ],
    shownBy: sim(),
  },
  {
    name: "looks after schedules no more when it has failed once",
    breaks: "I24",
    edits: [
      {
        file: "src/engine/loop.ts",
        find: "      onFailure(error, failures)\n",
        replace: '      onFailure(error, failures)\n      if (loop.name === "scheduler") return\n',
      },
    ],
    shownBy: sim(),
  },
  {
    name: "advances a schedule before its occurrences are written",
    breaks: "I9",
    edits: [
      {
        file: "src/engine/schedules/scheduler.ts",
        find: "const made = await tx.run(fireSchedules, fireParams(ours, runtime, atOnce))",
        replace: "const made = await tx.run(fireSchedules, { ...fireParams(ours, runtime), fires: [] })",
      },
      {
        file: "src/engine/schedules/scheduler.ts",
        find: 'for (const { state, ...lane } of lanes) if (state === "ready") onReady(lane)',
        replace:
          "const all = fireParams(taken, runtime)\n" +
          "    const rest = { ...all, passed: [], schedules: all.schedules.map((each) => ({ ...each, fired: 0 })) }\n" +
          "    const made = [...lanes, ...(await database.run(fireSchedules, rest))]\n" +
          '    for (const { state, ...lane } of made) if (state === "ready") onReady(lane)',
      },
    ],
    shownBy: sim(),
  },
  {
    name: "takes schedules that others have moved on, and does not ask the ledger",
    breaks: "I9",
    edits: [
      {
        file: "src/store/schedules/take.ts",
        find: "select id, cursor, version\n      from unnest",
        replace: "select id, schedule.cursor, schedule.version\n      from unnest",
      },
      {
        file: "src/store/schedules/fire.ts",
        find: "    on conflict (schedule, occurrence, generation) do nothing\n    returning run",
        replace:
          "    on conflict (schedule, occurrence, generation) do update set run = excluded.run\n    returning run",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "leaves out the last occurrence that was missed",
    breaks: "I9",
    edits: [
      {
        file: "src/engine/schedules/decisions.ts",
        find: "count: BigInt(count),",
        replace: "count: BigInt(Math.max(1, count - 1)),",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "sets a schedule back when it is changed",
    breaks: "I12",
    edits: [
      {
        file: "src/store/schedules/change.ts",
        find: "state = @state, cursor = @cursor,",
        replace: "state = @state, cursor = least(@cursor, cursor - interval '3 seconds'),",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "passes over other times up to what was left out by the old ones",
    breaks: "I9",
    edits: [
      {
        file: "src/operations/schedules/edit.ts",
        find: "const cursor = beginOf(row, settled.cursor)",
        replace: "const cursor = Math.max(settled.cursor, beginOf(row, settled.cursor))",
      },
    ],
    // An edit has to come soon after something was left out.
    shownBy: sim(1_200),
  },
  {
    name: "counts a run for what was left out before an edit",
    breaks: "I26",
    edits: [
      {
        file: "src/engine/schedules/scheduler.ts",
        find: "const scheduled = withoutLeftOut(read(row), row)",
        replace: "const scheduled = withoutLeftOut(read(row), {})",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "makes up for what came during a pause, although that was not asked for",
    breaks: "I13",
    edits: [
      {
        file: "src/engine/schedules/pausing.ts",
        find: "if (misfire === undefined) return settlePaused(row, row.paused_at)",
        replace:
          "if (misfire === undefined) return row.paused_at > 0 ? settleDue(row) : settlePaused(row, row.paused_at)",
      },
    ],
    shownBy: sim(),
  },
]
