/** Mistakes about runs: how they come in, who holds them, and how they end. */
import { chaos, type Edit, type Mutant, sim } from "../mutant.ts"

/** Once for each run: if all could claim it again and again, nothing would ever end. */
const CLAIMS_RUNNING: Edit = {
  file: "src/store/runs/claim.ts",
  find: "rank < lane.to_rank and lease is null",
  replace: "rank < lane.to_rank and (lease is null or claims = 1)",
}

export const OF_RUNS: readonly Mutant[] = [
  {
    name: "acknowledges an enqueue whose outcome is unknown",
    breaks: "I1",
    edits: [
      {
        file: "src/engine/enqueue/enqueuer.ts",
        find: "if (isOver || !(isUncertain(error) || isPassing(error))) throw doubt ?? error",
        replace:
          "if (isUncertain(error)) return { answers: runs.map(({ id }) => ({ id, created: true })), lanes: [] }\n" +
          "        if (isOver || !isPassing(error)) throw doubt ?? error",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "keeps what it has reaped from being ready",
    breaks: "I1",
    edits: [
      {
        file: "src/store/runs/reap.ts",
        find: "set stage = 'queued', rank",
        replace: "set stage = 'parked', parked_for = 'limit', rank",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "forgets a claim that was refused under a dead lease, before its runs are taken back",
    breaks: "I1",
    edits: [
      {
        file: "src/store/claims/forget-ended.ts",
        find: "claim = any (@claims) and ",
        replace: "claim = any (@claims) or lease = @lease and claim = any (@claims) and ",
      },
      {
        // Otherwise a lease is over before a hundred claims of it have ended.
        file: "src/engine/queue/claimer.ts",
        find: "      if (!ledger.hasManyEnded()) return\n",
        replace: "",
      },
    ],
    shownBy: chaos("F55"),
  },
  {
    name: "forgets the delay of a run that has nothing else",
    breaks: "I10",
    edits: [
      {
        file: "src/store/runs/insert-delayed.ts",
        find: "at + delay_ms * interval '1 millisecond'",
        replace: "at",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "gives every attempt an idempotency key of its own",
    breaks: "I8",
    edits: [
      {
        file: "src/engine/attempts/attempt-context.ts",
        find: "return idempotencyKeyOf(this.#source.run)",
        replace: "return idempotencyKeyOf(this.#source.run) + this.attempt",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "never charges a run with the workers that it kills",
    breaks: "I7",
    edits: [
      {
        file: "src/store/runs/reap.ts",
        find: "attempt = run.attempt + case when lost.started then 1 else 0 end,",
        replace: "attempt = run.attempt,",
      },
      {
        file: "src/store/runs/reap.ts",
        find: "history, tenant, generation, lost.started, cause,",
        replace: "history, tenant, generation, false, cause,",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "enqueues under a new id when the answer was lost",
    breaks: "I2",
    edits: [
      {
        file: "src/engine/enqueue/enqueuer.ts",
        find: "doubt = error\n",
        replace: "doubt = error\n          runs = runs.map((run) => ({ ...run, id: runtime.newId() }))\n",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "does not look in history before it enqueues again",
    breaks: "I3",
    edits: [
      {
        file: "src/engine/enqueue/enqueuer.ts",
        find: "if (isDoubtful && wanted > 0) {",
        replace: "if (isDoubtful && wanted < 0) {",
      },
      {
        file: "src/engine/enqueue/enqueuer.ts",
        find: "if (count < wanted) throw new Void()",
        replace: "",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "claims what others are running",
    breaks: "I8",
    edits: [CLAIMS_RUNNING],
    shownBy: sim(),
  },
  {
    name: "drops the fence from a success",
    breaks: "I5",
    edits: [
      {
        file: "src/store/runs/completing.ts",
        find:
          "run.id = ended.id and run.claim = ended.claim\n      and run.lease = @lease\n      and " +
          "exists (select from {workers} where lease = @lease and not dead)",
        replace: "run.id = ended.id and (run.claim = ended.claim or @lease is not null)",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "tells every handler the same fence",
    breaks: "I5",
    edits: [
      {
        file: "src/engine/queue/claimed-run.ts",
        find: "    fencingToken: extra?.fence ?? 1,\n",
        replace: "    fencingToken: 1,\n",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "settles by the lease alone",
    breaks: "I5",
    edits: [
      {
        file: "src/store/runs/settle.ts",
        find:
          "where id = any (@ids) and lease = @lease\n      and exists (select from {workers} where " +
          "lease = @lease and not dead)",
        replace: "where id = any (@ids) and lease is not null and @lease is not null",
      },
      {
        file: "src/store/runs/settle.ts",
        find: "select id, claim, held.attempt,",
        replace: "select id, held.claim, held.attempt,",
      },
      {
        file: "src/store/runs/settle.ts",
        find: "join verdict using (id, claim)",
        replace: "join verdict using (id)",
      },
    ],
    shownBy: sim(),
  },
  {
    // The second owner alone would be no harm: the fence would refuse the first.
    name: "claims what others are running, and lets each of them settle it",
    breaks: "I4",
    edits: [
      CLAIMS_RUNNING,
      {
        file: "src/store/runs/settle.ts",
        find: "where id = any (@ids) and lease = @lease\n",
        replace: "where id = any (@ids)\n",
      },
      {
        file: "src/store/runs/settle.ts",
        find: "select id, claim, held.attempt,",
        replace: "select id, verdict.claim, held.attempt,",
      },
      {
        file: "src/store/runs/settle.ts",
        find: "join verdict using (id, claim)",
        replace: "join verdict using (id)",
      },
      {
        file: "src/store/runs/completing.ts",
        find: "run.id = ended.id and run.claim = ended.claim\n      and run.lease = @lease\n",
        replace: "run.id = ended.id\n",
      },
      {
        file: "src/store/runs/completing.ts",
        find: "key, run.claim, attempt, job",
        replace: "key, ended.claim, attempt, job",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "reaps by id, without asking which worker holds the run by now",
    breaks: "I5",
    edits: [
      {
        file: "src/store/runs/reap.ts",
        find: "and lease = any (array(select lease from {workers} where dead))",
        replace: "",
      },
      {
        file: "src/store/workers/mark-dead.ts",
        find: "select lease from marked\n  union all\n  select lease from {workers} where dead",
        replace: "select lease from marked\n  union all\n  select lease from {workers}",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "replays a dead letter and keeps it",
    breaks: "I6",
    edits: [
      {
        file: "src/store/dead-letters/replay-batch.ts",
        find: "delete from {dead_letters}\n    where run = any",
        replace: "update {dead_letters} set died_at = died_at\n    where run = any",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "charges a run for being given back",
    breaks: "I7",
    edits: [
      {
        file: "src/store/runs/settle.ts",
        find: "+ case when outcome in ('failed', 'timed_out') and started_ago_ms is not null then 1 else 0 end",
        replace: "+ case when outcome <> 'snoozed' then 1 else 0 end",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "does not say why a run starts again after a loss",
    breaks: "I8",
    edits: [
      { file: "src/store/runs/reap.ts", find: "cause = 'lost', lease", replace: "cause = null, lease" },
    ],
    shownBy: sim(),
  },
  {
    name: "promotes what is due in a moment",
    breaks: "I10",
    edits: [
      {
        file: "src/store/runs/promote.ts",
        find: "due_at <= {now} and due_at",
        replace: "due_at <= {now} + interval '2 seconds' and due_at",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "claims the newest first",
    breaks: "I16",
    edits: [
      {
        file: "src/store/runs/claim.ts",
        find: "order by rank\n          limit lane.most",
        replace: "order by rank desc\n          limit lane.most",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "gives a key that is held",
    breaks: "I18",
    edits: [
      {
        file: "src/store/keys/take.ts",
        find: "on conflict (tenant, job, key) do nothing",
        replace: "on conflict (tenant, job, key) do update set run = excluded.run",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "enqueues beside the transaction of the user",
    breaks: "I19",
    edits: [
      {
        file: "src/operations/runs/enqueue-in.ts",
        find: "return engine.enqueuer.writeIn(runner, job, runs)",
        replace: "void runner\n    return engine.enqueuer.write(job, runs)",
      },
    ],
    shownBy: chaos("F18"),
  },
  {
    name: "ends a run outside the transaction of its handler",
    breaks: "I20",
    edits: [
      {
        file: "src/engine/attempts/attempt-transaction.ts",
        find: "const [row] = await tx.run(completionOf([end]), completeParams(runtime, identity, [end]))",
        replace:
          "const [row] = await database.run(completionOf([end]), completeParams(runtime, identity, [end]), " +
          '{ connection: "vital" })',
      },
    ],
    shownBy: sim(),
  },
  {
    name: "tries again at once",
    breaks: "I21",
    edits: [
      {
        file: "src/store/runs/settle.ts",
        find: "then {now} + delay_ms * interval '1 millisecond' else run.due_at end",
        replace: "then {now} + delay_ms * interval '1 microsecond' else run.due_at end",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "forgets a cancellation when the run is tried again",
    breaks: "I23",
    edits: [
      {
        file: "src/store/runs/settle.ts",
        find: "case when cancelling then 'cancelled' else verdict.state end as next",
        replace: "verdict.state as next",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "loses the last failure of a run that dies",
    breaks: "I26",
    edits: [
      {
        file: "src/store/runs/settle.ts",
        find: "    ) as run\n    join mine using (id)\n  ),\n  buried",
        replace:
          "    ) as run\n    join mine using (id)\n    where outcome <> 'failed' or next = 'waiting'\n  ),\n  buried",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "counts one attempt too many for a dead letter",
    breaks: "I7",
    edits: [
      {
        file: "src/store/runs/settle.ts",
        find: "attempt + case when started_ago_ms is null then 0 else 1 end,",
        replace: "attempt + 2,",
      },
    ],
    shownBy: sim(),
  },
  {
    name: "forgets when a lost run was due",
    breaks: "I27",
    edits: [
      {
        file: "src/store/runs/reap.ts",
        find: "solo = true, suspect = true,",
        replace: "due_at = {now}, solo = true, suspect = true,",
      },
    ],
    shownBy: sim(),
  },
]
