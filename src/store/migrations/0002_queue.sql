-- What a run carries beyond its work: on whose behalf, under which key, with which settings of its own.
alter table {runs}
  add column tenant text not null default '',
  -- One more with every replay of a dead run; attempts are counted anew in each.
  add column generation int not null default 1,
  -- How often it was ever claimed: a number that only grows, for outside systems to fence by.
  add column claims int not null default 0,
  -- Never claimed ahead of a free slot: a suspect, or one that is under a limit.
  add column solo boolean not null default false,
  -- A worker was lost while it held this run, so this run may be what killed it.
  add column suspect boolean not null default false,
  -- Its start is written down before its handler runs; only such a loss is charged.
  add column started boolean not null default false,
  -- A loss after its start is its end.
  add column bury_when_lost boolean not null default false,
  -- Someone does not want it any more; its worker has not heard of it yet.
  add column cancelling boolean not null default false,
  -- It holds rows in run_limits.
  add column limited boolean not null default false,
  -- What a parked run waits for.
  add column parked_for text,
  -- Why there is another attempt: null for the first.
  add column cause text,
  -- Not started by then, it expires.
  add column start_by timestamptz,
  add column key text,
  add column tags text[],
  add column timeout_ms bigint,
  add column retry json,
  -- The class that says how long its history is kept.
  add column history text not null default 'standard',
  add column last_error json,
  add column progress json,
  add column schedule text,
  add column occurrence timestamptz,
  add constraint runs_history check (history in ('short', 'standard', 'long')),
  add constraint runs_parked_for
    check ((state = 'parked') = (parked_for is not null) and parked_for in ('limit', 'pause', 'handler'));

-- One lane per (pool, solo, priority), each in the order of its ranks, so that a claim can begin where the last one ended.
drop index {runs_ready};
create index runs_ready on {runs} (pool, solo, priority desc, rank) where state = 'ready';
-- What is parked until a pause ends or a worker with a handler comes.
create index runs_parked on {runs} (parked_for, job, pool) where state = 'parked' and parked_for <> 'limit';

-- Idempotency keys: whoever holds the row has the run. Without an expiry it is held while the run lives.
create table {keys} (
  tenant text not null,
  job text not null,
  key text not null,
  run uuid not null,
  expires_at timestamptz,
  primary key (tenant, job, key)
) with (fillfactor = 70);

create index keys_expiring on {keys} (expires_at) where expires_at is not null;

-- Caps: at most so many runs of one key are ready or running at once.
create table {limits} (
  name text primary key,
  cap int not null constraint limits_cap check (cap >= 0)
);

-- Which keys a run waits for or has been admitted under. The use of a cap is counted here and never kept as a number,
-- so nothing leaks when a process dies.
create table {run_limits} (
  run uuid not null,
  key text not null,
  -- The cap that holds for this key.
  limit_name text not null,
  -- False while the run stands in line, true while it is ready or running, null while it is neither: future or paused.
  admitted boolean,
  priority int not null,
  rank bigint not null,
  primary key (run, key)
) with (fillfactor = 70);

create index run_limits_parked on {run_limits} (key, priority desc, rank) where not admitted;
create index run_limits_admitted on {run_limits} (key) where admitted;

-- What nobody may claim for now.
create table {pauses} (
  kind text not null constraint pauses_kind check (kind in ('job', 'pool')),
  name text not null,
  paused_at timestamptz not null,
  actor text not null,
  reason text not null,
  primary key (kind, name)
);

-- Declared jobs, as the newest version that declared them says.
create table {jobs} (
  name text primary key,
  settings json not null,
  version text,
  declared_at timestamptz not null
);

-- Who changed what, and why; written in the transaction of the change.
create table {audit} (
  at timestamptz not null,
  actor text not null,
  action text not null,
  subject text not null,
  reason text not null,
  before json,
  after json
);

create index audit_at on {audit} (at);
create index audit_subject on {audit} (subject, at);

-- Which jobs a process has handlers for, and which version of the code it runs.
alter table {workers}
  add column jobs text[] not null default '{}',
  add column version text;

-- History in classes: each is kept for its own time. What was written so far is of the class `standard`.
alter table {attempts} rename to attempts_standard;
alter table {attempts_standard}
  alter column claim drop not null,
  alter column lease drop not null,
  drop constraint attempts_outcome,
  add column history text not null default 'standard',
  add column tenant text not null default '',
  add column generation int not null default 1,
  -- Whether it counts against the attempts of the run.
  add column charged boolean not null default true,
  add column cause text,
  add column worker text,
  add column version text,
  add column schedule text,
  add column occurrence timestamptz,
  add column logs json,
  add constraint attempts_outcome check (outcome in (
    'succeeded', 'failed', 'timed_out', 'released', 'lost', 'cancelled', 'expired', 'snoozed'
  ));
create table {attempts} (like {attempts_standard} including defaults including constraints)
  partition by list (history);
alter table {attempts} attach partition {attempts_standard} for values in ('standard');
create table {attempts_short} (like {attempts_standard} including defaults including constraints)
  partition by range (finished_at);
alter table {attempts} attach partition {attempts_short} for values in ('short');
create table {attempts_long} (like {attempts_standard} including defaults including constraints)
  partition by range (finished_at);
alter table {attempts} attach partition {attempts_long} for values in ('long');

create index attempts_by_run on {attempts} (run);
create index attempts_by_job on {attempts} (job, finished_at);
create index attempts_by_tenant on {attempts} (tenant, finished_at) where tenant <> '';
create index attempts_by_occurrence on {attempts} (schedule, occurrence) where schedule is not null;

alter table {dead_letters}
  add column tenant text not null default '',
  add column generation int not null default 1,
  add column claims int not null default 0,
  add column bury_when_lost boolean not null default false,
  add column tags text[],
  add column timeout_ms bigint,
  add column retry json,
  add column history text not null default 'standard',
  -- The same for errors that are likely the same.
  add column fingerprint text,
  add column schedule text,
  add column occurrence timestamptz,
  -- As text, [key, limit_name] pairs: a replay is under the limits that the run was under.
  add column limits json;

create index dead_letters_fingerprint on {dead_letters} (job, fingerprint);
