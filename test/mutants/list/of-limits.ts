/** Mistakes about limits: places that are given twice, and places that are never given back. */
import { chaos, type Mutant, sim } from "../mutant.ts"

export const OF_LIMITS: readonly Mutant[] = [
  {
    name: "counts the room under a limit before it has the right to admit",
    breaks: "I14",
    edits: [
      {
        file: "src/engine/admissions.ts",
        find: "const [lock] = await tx.run(tryLockLimits,",
        replace:
          "const counted = await tx.run(roomUnderLimits, { keys })\n    const [lock] = await tx.run(tryLockLimits,",
      },
      {
        file: "src/engine/admissions.ts",
        find: "new Map((await tx.run(roomUnderLimits, { keys })).map(",
        replace: "new Map(counted.map(",
      },
    ],
    // While answers are under way for long, others admit in between.
    shownBy: chaos("F19", 24),
  },
  {
    name: "gives up the place of a run that was lost and runs again",
    breaks: "I14",
    edits: [
      {
        file: "src/store/runs/reap.ts",
        find: "  select id, lost.lease, coalesce(gone.pool, moved.pool) as pool",
        replace:
          "  , forgotten as (\n    update {run_limits} set admitted = null where run = any (array(select id from moved))\n  )\n" +
          "  select id, lost.lease, coalesce(gone.pool, moved.pool) as pool",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "leaks the place of a run that has ended",
    breaks: "I24",
    edits: [
      {
        file: "src/store/runs/leaving.ts",
        find: "where run = any (array(select id from gone where limited))",
        replace: "where run = any (array(select id from gone where limited and key is not null))",
      },
    ],
    shownBy: sim(),
  },
]
