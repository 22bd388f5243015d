/**
 * Ways in which a queue could hand out runs and take their ends, each as a claim and an end of a whole batch.
 *
 * All of them are fenced by the lease and the claim, and write down durably what became of each run. What else they keep or
 * give up is said. None but the first is the product's.
 */
import { forgetEndedClaims } from "../../dist/store/claims/forget-ended.js"
import { claimRuns } from "../../dist/store/runs/claim.js"
import { completeRuns } from "../../dist/store/runs/complete.js"

const SCHEMA = "carillon"
/** Of a table of live runs, as the schema has it: two more versions of each row fit beside it. */
const FULL_PAGES = `alter table ${SCHEMA}.runs set (fillfactor = 100)`

const resultsOf = (ids) => ids.map(() => '{"ok":true}')

/** The first runs of the pool, locked. */
const FIRST = `
  select ctid
  from ${SCHEMA}.runs
  where pool = 'default' and stage = 'queued' and solo = false and priority = 0 and rank >= 0 and lease is null
  order by rank
  limit $3
  for no key update skip locked`

const IS_LIVE = `exists (select from ${SCHEMA}.workers where lease = $1 and not dead)`

/** What history keeps of each, from the row that it was. */
const RECORD = `
  insert into ${SCHEMA}.attempts (
    run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at, outcome, run_state,
    input, result, history, tenant, generation, charged, cause, worker, schedule, occurrence
  )
  select run.id, $2, run.attempt + 1, run.job, run.pool, $1, run.enqueued_at, run.due_at, now(), now(),
    'succeeded', 'succeeded', run.input, ended.result, run.history, run.tenant, run.generation, true, run.cause, 'here',
    run.schedule, run.occurrence`

const CLAIM_AWAY = `
  with taken as (
    delete from ${SCHEMA}.runs as run
    where run.ctid = any (array(${FIRST})) and ${IS_LIVE}
    returning run
  ),
  noted as (
    insert into held (lease, claim, runs) select $1, $2, array_agg(run) from taken having count(*) > 0
  )
  select (run).id, (run).job, (run).solo, (run).priority, (run).rank,
    date_part('epoch', (run).due_at) * 1000 as due_ms, (run).input, null as extra
  from taken`

const claimAway = ({ lease, claim, batch }) => ({
  name: "claim away",
  text: CLAIM_AWAY,
  values: [lease, claim, batch],
})

const END_OF_HELD = `delete from held where lease = $1 and claim = $2 and ${IS_LIVE} returning runs`

const HELD = [
  `create table held (lease uuid not null, claim bigint not null, runs ${SCHEMA}.runs[] not null, primary key (lease, claim))`,
  "alter table held alter column runs set storage external",
]

/** The notes of claims that have ended go now and then. */
const forget = ({ lease, claims }) => ({
  name: "forget as it is",
  text: forgetEndedClaims.text(SCHEMA),
  values: forgetEndedClaims.bind({ lease, claims }),
})

export const DESIGNS = {
  "as it is": {
    title: "the claim marks the rows, without touching an index; the end moves each to history",
    setUp: [],
    claim: ({ lease, claim, batch }) => ({
      name: "claim as it is",
      text: claimRuns.text(SCHEMA),
      values: claimRuns.bind({
        ...{ lease, claim, pool: "default", jobs: ["job"], except: [] },
        ...{ solos: [false], priorities: [0], froms: [0n], tos: [2n ** 62n], mosts: [batch], limit: batch },
      }),
    }),
    end: ({ lease, claim, ids }) => ({
      name: "end as it is",
      text: completeRuns.text(SCHEMA),
      values: completeRuns.bind({
        ...{ lease, worker: "here", version: null, ids, claims: ids.map(() => claim) },
        ...{
          startedAgoMs: ids.map(() => 1),
          results: resultsOf(ids),
          logs: ids.map(() => null),
        },
      }),
    }),
    forget,
  },
  "no lock before": {
    title:
      "as it is, but the claim does not lock the rows before it marks them, so that others would wait for it",
    setUp: [],
    claim: (asked) => {
      const { name, text, ...rest } = DESIGNS["as it is"].claim(asked)
      const unlocked = text.replace("for no key update skip locked", "")
      if (unlocked === text) throw new Error("the claim does not lock any more")
      return { ...rest, name: `${name}, unlocked`, text: unlocked }
    },
    end: (asked) => DESIGNS["as it is"].end(asked),
    forget,
  },
  "state kept": {
    title: "as it is, but the state of a run is a generated column of its row",
    setUp: [
      `alter table ${SCHEMA}.runs add column state text not null generated always as (
        case when lease is not null then 'running' when stage = 'queued' then 'ready' else stage end
      ) stored`,
    ],
    claim: (asked) => DESIGNS["as it is"].claim(asked),
    end: (asked) => DESIGNS["as it is"].end(asked),
    forget,
  },
  "pages without room": {
    title: "as it is, but a page is filled to the end, so that a claim writes every index",
    setUp: [FULL_PAGES],
    claim: (asked) => DESIGNS["as it is"].claim(asked),
    end: (asked) => DESIGNS["as it is"].end(asked),
    forget,
  },
  "history without indexes": {
    title: "as it is, but history can be read only from one end to the other",
    setUp: ["by_run", "by_job", "by_tenant", "by_occurrence"].map(
      (name) => `drop index ${SCHEMA}.attempts_${name}`,
    ),
    claim: (asked) => DESIGNS["as it is"].claim(asked),
    end: (asked) => DESIGNS["as it is"].end(asked),
    forget,
  },
  "row of claims": {
    title: "the claim writes one row for the batch and locks the runs, but does not change them",
    setUp: [],
    claim: ({ lease, claim, batch }) => ({
      name: "claim by a row",
      text: `
        with taken as materialized (
          select id, job, solo, priority, rank, date_part('epoch', due_at) * 1000 as due_ms, input, null as extra
          from ${SCHEMA}.runs
          where ctid = any (array(${FIRST}))
        ),
        noted as (
          insert into ${SCHEMA}.claims (lease, claim, runs)
          select $1, $2, array_agg(id) from taken where ${IS_LIVE} having count(*) > 0
        )
        select * from taken`,
      values: [lease, claim, batch],
    }),
    end: ({ lease, claim, ids }) => ({
      name: "end by a row",
      text: `
        with done as (
          delete from ${SCHEMA}.claims where lease = $1 and claim = $2 and ${IS_LIVE} returning runs
        ),
        gone as (
          delete from ${SCHEMA}.runs where id = any (array(select unnest(runs) from done)) returning *
        ),
        recorded as (
          ${RECORD}
          from gone as run join unnest($3::uuid[], $4::json[]) as ended (id, result) using (id)
        )
        select count(*) from gone`,
      values: [lease, claim, ids, resultsOf(ids)],
    }),
  },
  "batch taken away": {
    title: "the claim deletes the runs and keeps them in one row; the end writes each to history",
    setUp: HELD,
    claim: claimAway,
    end: ({ lease, claim, ids }) => ({
      name: "end of a batch",
      text: `
        with done as (
          ${END_OF_HELD}
        ),
        recorded as (
          ${RECORD}
          from done
          cross join unnest(done.runs) as run
          join unnest($3::uuid[], $4::json[]) as ended (id, result) on ended.id = run.id
        )
        select count(*) from done`,
      values: [lease, claim, ids, resultsOf(ids)],
    }),
  },
  "history in batches": {
    title: "the same, and history has one row for the batch, found by the range of its ids",
    setUp: [
      ...HELD,
      `create table batches (
        finished_at timestamptz not null, lease uuid not null, claim bigint not null, first uuid not null, last uuid not null,
        outcome text not null, worker text not null, runs ${SCHEMA}.runs[] not null, started_at timestamptz[] not null,
        results json[] not null
      )`,
      "alter table batches alter column runs set storage external, alter column results set storage external",
      "create index on batches (first, last)",
      "create index on batches (finished_at)",
    ],
    claim: claimAway,
    end: ({ lease, claim, ids }) => ({
      name: "end in a batch",
      text: `
        with done as (
          ${END_OF_HELD}
        ),
        recorded as (
          insert into batches
          select now(), $1, $2, ($3::uuid[])[1], ($3::uuid[])[cardinality($3::uuid[])], 'succeeded', 'here', runs,
            array(select now() from unnest($3::uuid[])), $4::json[]
          from done
        )
        select count(*) from done`,
      values: [lease, claim, ids, resultsOf(ids)],
    }),
  },
}
