/** Mistakes about limits: places that are given twice, and places that are never given back. */
import { chaos, type Mutant, sim } from "../mutant.ts"

export const OF_LIMITS: readonly Mutant[] = [
  {
    name: "counts the room under a limit before it has the right to admit, and looks at the line after that",
    breaks: "I14",
    edits: [
      {
        file: "src/engine/queue/admitter.ts",
        find: "const lock = await timed(() => tx.run(tryLockLimits,",
        replace:
          "const early = await tx.run(roomUnderLimits, asked)\n" +
          "    const lock = await timed(() => tx.run(tryLockLimits,",
      },
      {
        file: "src/engine/queue/admitter.ts",
        find: "const counted = await tx.run(roomUnderLimits, asked)",
        replace: "const counted = early",
      },
      {
        file: "src/engine/queue/admitter.ts",
        find: "const isOrdered = seen.some(hasOrderedKey)",
        replace: "const isOrdered = true || hasOrderedKey",
      },
    ],
    // While answers are under way for long, others admit in between.
    shownBy: chaos("F19", 24),
  },
  {
    name: "begins a wave under a key and forgets who is left of those before",
    breaks: "I14",
    edits: [
      {
        file: "src/store/limits/open-waves.ts",
        find: "select wanted.key, lived.waves || (",
        replace: "select wanted.key, array[]::int[] || (",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "admits into a wave that is not the open one",
    breaks: "I14",
    edits: [
      {
        file: "src/store/limits/admit.ts",
        find: "select key, waves[cardinality(waves)] as wave",
        replace: "select key, waves[cardinality(waves)] - 1 as wave",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "admits an occurrence at once, whether or not another run is admitted under its key",
    breaks: "I14",
    edits: [
      {
        file: "src/store/limits/unused.ts",
        find: 'and ${admittedUnder("wanted.key")} = 0',
        replace: 'and ${admittedUnder("wanted.key")} >= 0',
      },
    ],
    shownBy: sim(),
  },
  {
    name: "lets the last in a line go on first",
    breaks: "I16",
    edits: [
      {
        file: "src/engine/queue/admitter.ts",
        find: "(a.rank < b.rank ? -1 : Number(a.rank > b.rank))",
        replace: "(a.rank > b.rank ? -1 : Number(a.rank < b.rank))",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "gives up the place of a run in the line of its schedule while it is paused",
    breaks: "I16",
    edits: [
      {
        file: "src/store/runs/parking.ts",
        find: 'pause: isKindThat("keepsPlace"),',
        replace: 'pause: "false",',
      },
    ],
    shownBy: sim(),
  },
  {
    name: "gives up the place of a run that was lost and runs again",
    breaks: "I14",
    edits: [
      {
        file: "src/store/runs/reap.ts",
        find: "  select id, lost.lease, coalesce(gone.pool, moved.pool) as pool",
        replace:
          "  , forgotten as (\n    update {run_limits} set admitted = null where run = any " +
          "(array(select id from moved))\n  )\n" +
          "  select id, lost.lease, coalesce(gone.pool, moved.pool) as pool",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "gives up the place of a run whose handler goes on",
    breaks: "I14",
    edits: [
      {
        file: "src/engine/attempts/attempt.ts",
        find: 'return limited && job.overrun !== "free"',
        replace: 'return limited && job.overrun === "free"',
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
