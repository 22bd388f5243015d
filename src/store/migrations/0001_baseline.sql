-- The whole schema: tables, then indexes, then functions.
--
-- Ids and leases are random UUIDs made by the process. Instants come from {schema}.now() and never from a process.
-- Payloads are `json` and not `jsonb`, which would reorder keys and reject \u0000.

-- Runs that have not ended. A run that ends leaves this table, so the table stays as small as the backlog.
--
-- A claim writes the lease and no indexed column. PostgreSQL then writes no index entry and keeps the new version of
-- the row on the same page. Indexes therefore know the stage of a run; its state follows from the stage and the lease,
-- see {schema}.state(run).
create table {runs} (
  id uuid primary key,
  job text not null,
  pool text not null,
  -- A higher priority is claimed first.
  priority int not null,
  -- Within a priority, a lower rank is claimed first. The statement that makes the run ready sets it, never an earlier
  -- one.
  rank bigint not null,
  stage text not null constraint runs_stage check (stage in ('waiting', 'parked', 'queued')),
  enqueued_at timestamptz not null,
  due_at timestamptz not null,
  -- Attempts that were charged so far.
  attempt int not null default 0,
  input json not null,
  -- The fence: every write about a claimed run presents both.
  lease uuid,
  claim bigint,
  tenant text not null default '',
  -- Each replay of a dead run starts a new generation, whose attempts are counted from zero.
  generation int not null default 1,
  -- How often the run was claimed. It only grows, so other systems can use it as a fencing token.
  claims int not null default 0,
  -- The run is never claimed ahead of a free slot, because it is a suspect or under the limit of a job.
  solo boolean not null default false,
  -- A worker died while it held this run, so the run may have killed it.
  suspect boolean not null default false,
  -- The start of a suspect is recorded before its handler runs. Only a loss after a recorded start is charged.
  started boolean not null default false,
  -- A loss after a recorded start kills the run.
  bury_when_lost boolean not null default false,
  -- An operator cancelled the run, and its worker does not know yet.
  cancelling boolean not null default false,
  -- The run has rows in run_limits.
  limited boolean not null default false,
  -- What a parked run waits for. `pause` is the pause of its job, of its pool or of everything, `tenant` that of its
  -- tenant, and `hold` that of its schedule.
  parked_for text,
  -- Why there is another attempt; null for the first.
  cause text,
  -- A run that has not started by then expires.
  start_by timestamptz,
  key text,
  tags text[],
  timeout_ms bigint,
  retry json,
  -- The class that decides how long the history of the run is kept.
  history text not null default 'standard' constraint runs_history check (history in ('short', 'standard', 'long')),
  last_error json,
  progress json,
  schedule text,
  occurrence timestamptz,
  -- The missed occurrences that this run makes up for.
  missed json,
  -- A run that is being replaced is taken from its worker if it has not ended by then.
  end_by timestamptz,
  -- Made by a backfill. Such runs queue on their own and never delay or displace an occurrence that comes due.
  backfill boolean not null default false,
  constraint runs_leased_is_fenced check ((lease is null) = (claim is null) and (lease is null or stage = 'queued')),
  constraint runs_parked_for
    check (
      (stage = 'parked') = (parked_for is not null) and parked_for in ('limit', 'pause', 'tenant', 'handler', 'hold')
    )
-- A page has room for two more versions of each of its rows: a run that waited is made ready in the second and claimed
-- in the third. While another session holds an old snapshot, vacuum can remove none of them, and a third version on
-- another page would cost an entry in every index.
) with (autovacuum_vacuum_scale_factor = 0.02, fillfactor = 30);

-- History: one row for each attempt that ended. Rows are only inserted; retention drops whole partitions.
--
-- Partitioned by class, and each class by day. Carillon makes the days, see make_day below.
create table {attempts} (
  run uuid not null,
  claim bigint,
  attempt int not null,
  job text not null,
  pool text not null,
  lease uuid,
  enqueued_at timestamptz not null,
  due_at timestamptz not null,
  -- Null if the handler did not run.
  started_at timestamptz,
  finished_at timestamptz not null,
  outcome text not null constraint attempts_outcome check (outcome in (
    'succeeded', 'failed', 'timed_out', 'released', 'lost', 'cancelled', 'expired', 'snoozed'
  )),
  -- The final state of the run. Only its last attempt has one.
  run_state text constraint attempts_run_state
    check (run_state in ('succeeded', 'dead', 'cancelled', 'expired', 'discarded')),
  -- The last attempt keeps the input, because the run itself is gone.
  input json,
  result json,
  error_code text,
  error_message text,
  error_stack text,
  history text not null default 'standard',
  tenant text not null default '',
  generation int not null default 1,
  -- The attempt counts against the attempts of the run.
  charged boolean not null default true,
  cause text,
  worker text,
  version text,
  schedule text,
  occurrence timestamptz,
  logs json,
  -- Errors that are likely the same have the same fingerprint.
  fingerprint text,
  -- Like the input, these are kept by the last attempt.
  priority int,
  key text,
  tags text[],
  timeout_ms bigint,
  missed json,
  constraint attempts_last_has_input check ((run_state is null) = (input is null))
) partition by list (history);

create table {attempts_short} partition of {attempts} for values in ('short') partition by range (finished_at);
create table {attempts_standard} partition of {attempts} for values in ('standard') partition by range (finished_at);
create table {attempts_long} partition of {attempts} for values in ('long') partition by range (finished_at);

-- Under a publication for all tables, PostgreSQL refuses to delete or change rows that have no identity. A primary key
-- would make every settle dearer. The full identity costs nothing, because rows of history never change. Partitions do
-- not inherit it.
alter table {attempts} replica identity full;
alter table {attempts_short} replica identity full;
alter table {attempts_standard} replica identity full;
alter table {attempts_long} replica identity full;

-- The runs that each claim took. It leads from a lease to its runs; an index of leases would be written for every run.
-- A row is deleted when all of its runs have ended. A run in it that no longer has this lease and claim has ended too.
create table {claims} (
  lease uuid not null,
  claim bigint not null,
  runs uuid[] not null,
  primary key (lease, claim)
);
-- Random ids do not compress, so PostgreSQL does not try.
alter table {claims} alter column runs set storage external;

-- Idempotency keys, each with the run that holds it.
create table {keys} (
  tenant text not null,
  job text not null,
  key text not null,
  run uuid not null,
  -- Null while the run holds the key until it ends.
  expires_at timestamptz,
  -- How long the key is held after the run has ended. Null frees it with the run.
  keep_ms bigint,
  primary key (tenant, job, key)
) with (fillfactor = 70);

-- Caps: at most `cap` runs under one key are ready or running at once.
create table {limits} (
  name text primary key,
  cap int not null constraint limits_cap check (cap >= 0)
);

-- The keys that a run waits for or was admitted under. The use of a cap is counted from these rows and never stored as
-- a number, so a process that dies leaks nothing.
create table {run_limits} (
  run uuid not null,
  key text not null,
  -- What the key is. `schedule`: the runs of one schedule must not overlap. `overlap`: the same for all schedules with
  -- one overlap key. `backfill`: the runs that backfills of one schedule make. `job`: the concurrency of a job.
  kind text not null constraint run_limits_kind check (kind in ('schedule', 'overlap', 'backfill', 'job')),
  -- The limit that says the cap of the key. Null: one run at a time.
  limit_name text constraint run_limits_named check (kind <> 'job' or limit_name is not null),
  -- False while the run stands in line, true while it is ready or running, null while it is neither (waiting or
  -- paused).
  admitted boolean,
  priority int not null,
  rank bigint not null,
  -- The wave in which the run was admitted, see limit_waves.
  wave int,
  primary key (run, key),
  -- A count reads wave by wave, so it would not see an admitted run without a wave.
  constraint run_limits_wave check (admitted is not true or wave is not null)
) with (fillfactor = 70);

-- The waves of busy keys. While another session holds an old snapshot, the index still has entries of runs that have
-- ended. Runs are therefore admitted in waves, and a count skips the waves that are empty. A row can always be deleted:
-- then the count reads all waves.
create table {limit_waves} (
  key text primary key,
  -- The waves that may still hold runs, in ascending order. Runs are admitted into the last one.
  waves int[] not null constraint limit_waves_open check (cardinality(waves) > 0),
  opened_at timestamptz not null
) with (fillfactor = 50);

-- How far the claims of a pool have come. A worker that starts begins there, and does not walk over the dead index
-- entries that an old snapshot keeps. It is a hint: if a row is deleted, the next worker begins at the bottom.
create table {low_water} (
  pool text not null,
  -- Hash of `jobs`, because the list may be longer than an index entry can be.
  jobs_hash bigint not null,
  -- The marks hold for these jobs. Runs of other jobs may lie below them.
  jobs text[] not null,
  -- One entry for each lane in each of the three lists.
  solos boolean[] not null,
  priorities int[] not null,
  ranks bigint[] not null,
  -- Transactions that were open for long when this was recorded. Their runs may lie below the marks.
  late bigint[] not null,
  -- The rank of the moment at which this was recorded.
  clock bigint not null,
  published_at timestamptz not null,
  primary key (pool, jobs_hash)
) with (fillfactor = 50);

-- What is paused: jobs, pools, tenants, or everything, which has no name. Every claim reads it, so a pause holds at
-- once.
create table {pauses} (
  kind text not null constraint pauses_kind check (kind in ('job', 'pool', 'tenant', 'everything')),
  name text not null constraint pauses_name check ((kind = 'everything') = (name = '')),
  paused_at timestamptz not null,
  actor text not null,
  reason text not null,
  -- The pause ends by itself then. Null: it lasts until an operator ends it.
  ends_at timestamptz,
  -- The pause was resumed with a ramp of that length. It lasts until its ready runs are parked.
  ramp_ms bigint,
  primary key (kind, name)
);

-- Pauses that have ended and whose parked runs return gradually. A ramp of everything has no name.
create table {ramps} (
  kind text not null,
  name text not null,
  paused_at timestamptz not null,
  from_at timestamptz not null,
  ends_at timestamptz not null,
  -- How many runs were parked at its begin, and how many of them it has released.
  parked bigint not null,
  released bigint not null default 0,
  actor text not null,
  reason text not null,
  primary key (kind, name)
);

-- Settings of jobs that operators have overridden, with their values. Every process reads them once a second.
create table {overrides} (
  job text not null,
  setting text not null constraint overrides_setting check (setting in ('retry', 'timeout', 'concurrency')),
  value json not null,
  set_at timestamptz not null,
  actor text not null,
  reason text not null,
  -- The override ends by itself then. Null: it lasts until an operator clears it.
  ends_at timestamptz,
  primary key (job, setting)
);

-- Schedules: when to make runs of which job, and how far each has come. The id identifies a schedule for ever. A name
-- belongs to the schedule that has it now.
create table {schedules} (
  id uuid primary key,
  tenant text not null default '',
  name text not null,
  job text not null,
  -- When it fires, as its user wrote it.
  spec json not null,
  input json not null,
  -- Policies, and what its runs carry.
  settings json not null,
  state text not null constraint schedules_state
    check (state in ('active', 'paused', 'completed', 'missed', 'retired', 'error', 'cancelled')),
  -- Each edit increments it. An edit of an outdated version is refused.
  version int not null default 1,
  -- All occurrences up to and including this instant are decided.
  cursor timestamptz not null,
  -- The next occurrence and when it is due. Only active schedules have one, unless they wait for a run to end.
  next_occurrence timestamptz,
  next_at timestamptz,
  -- How many runs its occurrences have made.
  fired bigint not null default 0,
  paused_at timestamptz,
  -- When the pause ends by itself.
  resume_at timestamptz,
  -- Why it is in its state: who paused it, or what is wrong with it.
  cause json,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  -- The application whose code declares it. Null if a call made it.
  declared_by text,
  -- For schedules in a time zone: the edition of the zone data that computed the next occurrence, and the local time of
  -- the last occurrence that made a run. Editions compare by their bytes.
  tzdb text collate "C",
  last_civil text,
  constraint schedules_next check ((next_at is null) = (next_occurrence is null)
    and (state = 'active' or next_at is null)),
  constraint schedules_paused check ((state = 'paused') = (paused_at is not null)
    and (resume_at is null or state = 'paused'))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

-- The ledger of occurrences: one row for each occurrence that made a run, and one for each stretch of occurrences that
-- made none. It outlives the runs, so an occurrence never makes a second run.
--
-- Partitioned by month. Carillon makes the months, see make_month below.
create table {fires} (
  schedule uuid not null,
  occurrence timestamptz not null,
  generation int not null default 1,
  outcome text not null constraint fires_outcome check (outcome in ('fired', 'coalesced', 'skipped', 'superseded')),
  -- Why there is no run.
  reason text,
  due_at timestamptz,
  decided_at timestamptz not null,
  run uuid,
  -- The last occurrence of the stretch, and how many occurrences it has. A single occurrence is a stretch of one.
  last timestamptz not null,
  count bigint not null default 1,
  -- The occurrence whose run makes up for these.
  into_occurrence timestamptz,
  primary key (schedule, occurrence, generation),
  constraint fires_run check (
    (run is not null) = (outcome in ('fired', 'superseded') or (outcome = 'coalesced' and reason = 'overlap'))
  ),
  constraint fires_stretch check (last >= occurrence and count >= 1)
) partition by range (occurrence);

-- How the last runs of each schedule ended. It outlives history, because some schedules fire once a year. It is not
-- part of `schedules`, so a settle never waits for a tick.
create table {schedule_ends} (
  schedule text primary key,
  -- When the last run ended, whatever its outcome.
  ended_at timestamptz not null,
  result json,
  succeeded_at timestamptz,
  error json,
  failed_at timestamptz,
  -- Failures in a row since the last success.
  failures int not null default 0
) with (fillfactor = 70);

-- Programs that declare schedules, each with the newest version that did. Declarations of older versions are ignored.
create table {applications} (
  name text primary key,
  version text,
  declared_at timestamptz not null
);

-- The newest zone data that any process brought: one row, once there is one. Processes with older zone data leave
-- schedules in time zones alone.
create table {zone_data} (
  one boolean primary key default true,
  tzdb text collate "C" not null,
  raised_at timestamptz not null,
  constraint zone_data_one check (one)
);

-- The settings of declared jobs, as the newest version of the code declares them.
create table {jobs} (
  name text primary key,
  settings json not null,
  version text,
  declared_at timestamptz not null,
  -- Which settings the code gives, and the JSON Schema of the input: {"given": [...], "inputSchema": {...}}.
  described json
);

-- Who changed what, and why. The transaction of the change writes it.
create table {audit} (
  at timestamptz not null,
  actor text not null,
  action text not null,
  subject text not null,
  reason text not null,
  before json,
  after json,
  -- Random and not counted: sequences are not replicated, so the numbers would collide after a switch to a replica.
  id uuid primary key default pg_catalog.gen_random_uuid()
);

-- The tokens of HTTP callers. Only the hash of a secret is stored: who reads the table cannot use it.
create table {tokens} (
  id text primary key,
  -- SHA-256 of the secret, in hexadecimal digits. The secret has 256 random bits, so it needs no salt.
  hash text not null,
  -- For people: what the token is for. The audit names it as the actor.
  name text not null,
  -- Joined by commas.
  scopes text not null,
  -- The only tenant that the token sees. Empty for all.
  tenant text not null default '',
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz,
  revoked_at timestamptz
);

-- Runs that failed for good, with everything that a replay needs. They stay until an operator replays or discards them,
-- longer than history.
create table {dead_letters} (
  run uuid primary key,
  job text not null,
  pool text not null,
  priority int not null,
  attempts int not null,
  enqueued_at timestamptz not null,
  died_at timestamptz not null,
  input json not null,
  error_code text,
  error_message text,
  error_stack text,
  tenant text not null default '',
  generation int not null default 1,
  claims int not null default 0,
  bury_when_lost boolean not null default false,
  tags text[],
  timeout_ms bigint,
  retry json,
  history text not null default 'standard',
  -- Errors that are likely the same have the same fingerprint.
  fingerprint text not null,
  schedule text,
  occurrence timestamptz,
  -- A list of [key, kind, limit_name].
  limits json,
  missed json,
  -- A dead run still holds its idempotency key.
  key text,
  -- Of the last attempt. Its start is null if its handler did not run, or if its worker was lost.
  due_at timestamptz,
  started_at timestamptz,
  worker text,
  version text
);

-- What operators decided about a group of dead letters: all of one job with the same fingerprint. A group without a
-- row is open.
create table {error_groups} (
  job text not null,
  fingerprint text not null,
  state text not null constraint error_groups_state check (state in ('resolved', 'ignored')),
  -- The version that resolves it. Deaths in older versions do not count against it. Null: every later death does.
  version text,
  changed_at timestamptz not null,
  primary key (job, fingerprint),
  constraint error_groups_version check (version is null or state = 'resolved')
);

-- Bulk operations: one action on all runs that meet a filter. Any process carries one on, batch by batch, in the order
-- of the ids, newest first. The transaction of a batch changes its runs and this row, so a batch is done or it is not.
create table {bulk} (
  id uuid primary key,
  action text not null,
  -- As text. Relative times in it are counted from `started_at`.
  filter text not null,
  -- What else the action takes.
  options json not null,
  -- How many runs it changes at most in a second, a minute or an hour, as in '50/s'.
  pace text,
  actor text not null,
  reason text not null,
  state text not null constraint bulk_state check (state in ('running', 'paused', 'aborted', 'done')),
  -- The last run it came to. The next batch begins below.
  cursor uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  -- When the pace allows the next batch.
  next_at timestamptz not null,
  done bigint not null default 0,
  -- Runs that no longer met the filter, or that the action did not change.
  skipped bigint not null default 0,
  failed bigint not null default 0,
  -- The first of them: [{"run": ..., "code": ..., "message": ...}].
  errors json not null default '[]',
  started_at timestamptz not null,
  finished_at timestamptz,
  -- When a process last told how far it has come.
  told_at timestamptz,
  constraint bulk_finished check ((finished_at is not null) = (state in ('aborted', 'done')))
) with (fillfactor = 50);

-- Alarms that one process raises for all: when one last checked, and what it last told.
create table {alarms} (
  name text primary key,
  looked_at timestamptz not null,
  -- Null while there is nothing to tell.
  raised_at timestamptz,
  told_at timestamptz
) with (fillfactor = 50);

-- How attempts ended, added up. Each process appends what it settled, as parts, every ten seconds. Upkeep replaces the
-- parts by one row of their minute and one of their hour. So parts and minutes together hold every end once, and so do
-- parts and hours.
create table {stats} (
  -- Names one write of one process. A write that is repeated because its answer was lost adds nothing.
  part uuid not null,
  place int not null,
  -- Each end is counted by its tenant, and again in the sums of all tenants.
  step text not null constraint stats_step check (
    step in ('part', 'minute', 'hour', 'part_by_tenant', 'minute_by_tenant', 'hour_by_tenant')
  ),
  -- The start of the minute or hour.
  at timestamptz not null,
  job text not null,
  pool text not null,
  -- Empty for runs without a tenant. Null for the tenants that are counted together, and in the sums of all tenants.
  tenant text,
  outcome text not null,
  ends bigint not null,
  retries bigint not null,
  dead bigint not null,
  -- From the due time to the start of the handler: the sum, and how many in each bucket.
  wait_ms bigint not null,
  waits bigint[] not null,
  -- How long handlers ran.
  duration_ms bigint not null,
  durations bigint[] not null,
  primary key (part, place)
);

-- What waited in each pool: the highest values of a minute and of an hour. One process samples them for all.
create table {depths} (
  step text not null constraint depths_step check (step in ('minute', 'hour')),
  at timestamptz not null,
  pool text not null,
  waiting bigint not null,
  parked bigint not null,
  ready bigint not null,
  running bigint not null,
  -- A count reached its cap, so more may have waited.
  capped boolean not null,
  -- How long the longest overdue run was overdue.
  oldest_due_ms bigint not null,
  slots int not null,
  used int not null,
  primary key (step, at, pool)
) with (fillfactor = 50);

-- One row for each lease of a process, however many runs it holds. The row of a dead lease stays for a while, so that
-- the lease can neither be renewed nor used.
create table {workers} (
  lease uuid primary key,
  hostname text not null,
  pid int not null,
  pools text[] not null,
  started_at timestamptz not null,
  expires_at timestamptz not null,
  dead boolean not null default false,
  -- The jobs that the process has handlers for.
  jobs text[] not null default '{}',
  version text,
  -- They identify the process for others on the same host: where its pid counts, and when it was started. Null where
  -- the system does not tell.
  home text,
  born text,
  -- The slots of each of its pools.
  slots int[] not null default '{}',
  -- What the process measured of itself: the slots in use of each pool, the longest delay of its event loop since the
  -- measurement before, and its memory.
  used int[] not null default '{}',
  delay_ms int,
  memory_bytes bigint,
  measured_at timestamptz
) with (fillfactor = 50);

-- Claims, lane by lane: runs/claim. Queued runs only, so a million waiting ones cost a claim nothing.
create index runs_queued on {runs} (pool, solo, priority desc, rank) where stage = 'queued';
-- What becomes due next: runs/promote, runs/next-due.
create index runs_waiting on {runs} (due_at) where stage = 'waiting';
-- What a resume or a new handler brings back, in order: runs/unpark-resumed, runs/unpark-handled.
create index runs_parked on {runs} (parked_for, job, pool, rank) where stage = 'parked' and parked_for <> 'limit';
-- The runs of paused tenants, tenant by tenant: runs/unpark-tenants.
create index runs_parked_tenant on {runs} (tenant, rank) where parked_for = 'tenant';
-- Running runs that were cancelled, which are few: runs/find-cancelled.
create index runs_cancelling on {runs} (id) where cancelling;
-- Runs that are being replaced: runs/end-overdue.
create index runs_ending on {runs} (end_by) where end_by is not null;
-- The live runs of a schedule, counted when it comes due: schedules/due.
create index runs_by_schedule on {runs} (schedule, backfill, occurrence) where schedule is not null;

-- The history of a run: attempts/list-of-run.
create index attempts_by_run on {attempts} (run);
-- The ended runs of a job, a tenant and a schedule in the order of their ids: runs/list-by-job, runs/list-by-tenant,
-- runs/list-by-schedule.
create index attempts_by_job on {attempts} (job, run);
create index attempts_by_tenant on {attempts} (tenant, run) where tenant <> '';
create index attempts_by_schedule on {attempts} (schedule, run) where schedule is not null;

-- Expired keys: keys/forget.
create index keys_expiring on {keys} (expires_at) where expires_at is not null;

-- The line under a key: limits/next-in-line, limits/with-room.
create index run_limits_parked on {run_limits} (key, priority desc, rank) where not admitted;
-- The use of a cap, wave by wave: limits/room.
create index run_limits_admitted on {run_limits} (key, wave) where admitted;

-- Two schedules of a tenant never share a name: schedules/find.
create unique index schedules_name on {schedules} (tenant, name);
-- What is due: schedules/due. Schedules in a time zone have an index of their own, because only a process with the
-- newest zone data reads them.
create index schedules_due on {schedules} (next_at) where next_at is not null and tzdb is null;
create index schedules_due_by_zone on {schedules} (tzdb, next_at) where next_at is not null and tzdb is not null;
-- Pauses that end by themselves: schedules/overdue-pauses.
create index schedules_resuming on {schedules} (resume_at) where resume_at is not null;
-- The schedules that an application declares: schedules/declared.
create index schedules_declared on {schedules} (declared_by) where declared_by is not null;

-- The bulk operations to carry on: bulk/next.
create index bulk_running on {bulk} (id) where state = 'running';

-- Old entries, and pages of all: audit/forget, audit/list.
create index audit_at on {audit} (at, id);
-- The changes of one subject: schedules/called, runs/find-cancelled, audit/list-by-subject.
create index audit_subject on {audit} (subject, at, id);
-- The changes by one actor and of one kind: audit/list-by-actor, audit/list-by-action.
create index audit_actor on {audit} (actor, at, id);
create index audit_action on {audit} (action, at, id);

-- A span of statistics, and what is to be rolled up or has expired: stats/series, stats/roll-up, stats/forget.
create index stats_at on {stats} (step, at);

-- Dead letters of a job, by age: dead-letters/growth.
create index dead_letters_job on {dead_letters} (job, died_at);
-- Groups of dead letters, and the letters of one by age: dead-letters/groups, dead-letters/find-by-group.
create index dead_letters_group on {dead_letters} (job, fingerprint, died_at);
-- Dead letters by age, and those of a tenant: dead-letters/find-newest, dead-letters/find-by-tenant.
create index dead_letters_age on {dead_letters} (died_at);
create index dead_letters_tenant on {dead_letters} (tenant, died_at) where tenant <> '';

-- The only clock. Every statement that needs the time calls it, and the test kit replaces it.
--
-- It reads clock_timestamp(), so a statement that waited for a lock sees the time after the wait. It is declared
-- volatile, as its body is, so the planner replaces the call by the body. Statements read it in a sub-select: once for
-- each mention, and usable as the bound of an index scan.
create function {schema}.now() returns timestamptz
  language sql volatile parallel safe
  return pg_catalog.clock_timestamp();

-- The state of a run. It is not a column, because a column made every enqueue and every claim an eighth dearer. The
-- planner replaces the call by the body.
create function {schema}.state(run {runs}) returns text
  language sql immutable parallel safe
  return case when run.lease is not null then 'running' when run.stage = 'queued' then 'ready' else run.stage end;

-- The three functions below do what only the owner of the tables may do, so that a role that owns nothing can work.
-- They run as the owner, check their arguments and build every name themselves. They find their schema by the table
-- `runs`, so no body contains a name of a schema. Only roles that `carillon db grant` named may call them.

-- Makes the partition of history for one class and day. It is created beside its parent and then attached, because
-- `create table ... partition of` would block every settle while it waits for a reader.
create function {schema}.make_day(class text, day date) returns text
  language plpgsql security definer
  set search_path = pg_catalog, {schema}, pg_temp
  set lock_timeout = '5s'
as $function$
declare
  home constant text := (
    select nspname
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where pg_class.oid = 'runs'::regclass
  );
  parent constant text := 'attempts_' || class;
  child constant text := case class when 'standard' then 'attempts_' else 'attempts_' || class || '_' end
    || to_char(day, 'YYYYMMDD');
  first constant text := to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00';
  ends constant text := to_char(day + 1, 'YYYY-MM-DD') || ' 00:00:00+00';
  today date;
begin
  execute format('select (%I.now() at time zone ''UTC'')::date', home) into today;
  if class is null or class not in ('short', 'standard', 'long') then
    raise exception 'there is no class of history called %', coalesce(class, 'null') using errcode = '22023';
  end if;
  if day is null or day < today - 1 or day > today + 31 then
    raise exception 'no partition is made for %: it is not among the coming days', coalesce(day::text, 'null')
      using errcode = '22023';
  end if;
  execute format('create table %I.%I (like %I.%I including all)', home, child, home, parent);
  -- `like` does not copy the replica identity.
  execute format('alter table %I.%I replica identity full', home, child);
  execute format(
    'alter table %I.%I add constraint within_day check (history = %L and finished_at >= %L and finished_at < %L)',
    home, child, class, first, ends
  );
  execute format('alter table %I.%I attach partition %I.%I for values from (%L) to (%L)',
    home, parent, home, child, first, ends);
  execute format('alter table %I.%I drop constraint within_day', home, child);
  return child;
end
$function$;

-- Makes the partition of the ledger for one month, or attaches one again that was being dropped.
create function {schema}.make_month(month date) returns text
  language plpgsql security definer
  set search_path = pg_catalog, {schema}, pg_temp
  set lock_timeout = '5s'
as $function$
declare
  home constant text := (
    select nspname
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where pg_class.oid = 'runs'::regclass
  );
  child constant text := 'fires_' || to_char(month, 'YYYYMM');
  first constant text := to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00';
  ends constant text := to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00';
  there record;
begin
  if month is null or month <> date_trunc('month', month) or month not between '1000-01-01' and '9999-11-01' then
    raise exception 'no partition is made for %: it is not the first day of a month', coalesce(month::text, 'null')
      using errcode = '22023';
  end if;
  select pg_class.oid, inhparent, inhdetachpending, obj_description(pg_class.oid, 'pg_class') as mark into there
  from pg_class
  left join pg_inherits on inhrelid = pg_class.oid
  where relnamespace = (select relnamespace from pg_class where oid = 'runs'::regclass) and relname = child;
  if there.oid is null then
    execute format('create table %I.%I (like %I.fires including all)', home, child, home);
  elsif there.inhdetachpending then
    execute format('alter table %I.fires detach partition %I.%I finalize', home, home, child);
  elsif there.inhparent is not null then
    return child;
  elsif there.mark is distinct from 'carillon: expired' then
    raise exception '% is not a partition, and was not detached by Carillon', child using errcode = '55000';
  end if;
  execute format('alter table %I.%I add constraint within_month check (occurrence >= %L and occurrence < %L)',
    home, child, first, ends);
  execute format('alter table %I.fires attach partition %I.%I for values from (%L) to (%L)',
    home, home, child, first, ends);
  execute format('alter table %I.%I drop constraint within_month', home, child);
  execute format('comment on table %I.%I is null', home, child);
  return child;
end
$function$;

-- Drops a partition that has expired, and returns whether it did. `detach ... concurrently` cannot run in a function,
-- so the drop locks the table for a moment. If a reader is in the way, it gives up after a tenth of a second, so no
-- settle waits longer than that.
create function {schema}.drop_expired(child text, keep_ms float8) returns boolean
  language plpgsql security definer
  set search_path = pg_catalog, {schema}, pg_temp
  set lock_timeout = '100ms'
  set timezone = 'UTC'
  set datestyle = 'ISO, YMD'
as $function$
declare
  home constant text := (
    select nspname
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where pg_class.oid = 'runs'::regclass
  );
  is_ledger constant boolean := child ~ '^fires_[0-9]+$';
  instant timestamptz;
  parent text;
  there record;
  is_needed boolean;
begin
  if child is null or not (is_ledger or child ~ '^attempts_((short|long)_)?[0-9]+$') then
    raise exception '% is no partition of Carillon', coalesce(child, 'null') using errcode = '22023';
  end if;
  if keep_ms is null or not keep_ms >= 86400000 then
    raise exception 'partitions are kept for a day at the least' using errcode = '22023';
  end if;
  execute format('select %I.now()', home) into instant;
  select inhparent, inhdetachpending, obj_description(pg_class.oid, 'pg_class') as mark,
    substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''([^'']+)''\)')::timestamptz as ends_at into there
  from pg_class
  left join pg_inherits on inhrelid = pg_class.oid
  where relnamespace = (select relnamespace from pg_class where oid = 'runs'::regclass)
    and relname = child and relkind = 'r';
  if not found then
    return false;
  end if;
  if there.inhparent is null and there.mark is distinct from 'carillon: expired' then
    return false;
  end if;
  if there.inhparent is not null and (there.ends_at > instant - interval '1 millisecond' * keep_ms) is not false then
    return false;
  end if;
  if is_ledger then
    -- No session writes to it from here until it is dropped or found to be needed.
    execute format('lock table %I.%I in share row exclusive mode', home, child);
    execute format(
      'select exists (select from %I.%I where decided_at > $1 - interval ''1 millisecond'' * $2) or exists ('
        'select from %I.%I as fire join %I.schedules as schedule on schedule.id = fire.schedule '
        'where fire.last > schedule.cursor and schedule.state not in (''completed'', ''missed'', ''cancelled''))',
      home, child, home, child, home
    ) into is_needed using instant, keep_ms;
    if is_needed then
      if there.inhparent is null or there.inhdetachpending then
        execute format('select %I.make_month(%L)', home, to_date(right(child, 6), 'YYYYMM'));
      end if;
      return false;
    end if;
  end if;
  if there.inhdetachpending then
    select relname into parent from pg_class where oid = there.inhparent;
    execute format('alter table %I.%I detach partition %I.%I finalize', home, parent, home, child);
  end if;
  execute format('drop table %I.%I', home, child);
  return true;
end
$function$;

revoke execute on function {schema}.make_day(text, date), {schema}.make_month(date),
  {schema}.drop_expired(text, float8) from public;

-- A duration as callers write it, in whole milliseconds. Null for anything else.
create function {schema}.duration_ms(value json) returns bigint
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
as $function$
declare
  written constant text := value #>> '{}';
  parts constant text[] := regexp_match(written, '^(\d+(?:\.\d+)?) ?(ms|s|m|h|d|w)$');
  ms numeric;
begin
  if json_typeof(value) = 'number' then
    ms := written::numeric;
  elsif json_typeof(value) = 'string' and length(written) <= 28 and parts is not null then
    ms := parts[1]::numeric * case parts[2]
      when 'ms' then 1 when 's' then 1000 when 'm' then 60000 when 'h' then 3600000 when 'd' then 86400000
      else 604800000
    end;
  end if;
  -- A hundred years, as elsewhere.
  return case when ms between 0 and 3155760000000 then floor(ms + 0.5)::bigint end;
end
$function$;

-- Writes a run in the transaction of the caller, for triggers and programs in any language. Returns the id of the run,
-- or of the run that holds the key.
--
-- It takes the options of `enqueue` in TypeScript and refuses what that refuses. The settings of the job are those that
-- a process has stored. Nothing checks the input against the schema of the job: the worker does. It notifies other
-- processes only with {"notify": true}, because a notification makes commits take turns; otherwise polls find the run.
--
-- It runs with the rights of its caller, whose role needs those that `carillon db grant` grants.
create function {schema}.enqueue(job text, input json default 'null', options json default '{}') returns uuid
  language plpgsql
  set search_path = pg_catalog, {schema}, pg_temp
  set array_nulls = on
  set standard_conforming_strings = on
as $function$
#variable_conflict use_column
declare
  known constant text[] := array['delay', 'runAt', 'priority', 'pool', 'tenant', 'key', 'keyFor', 'tags', 'timeout',
    'retry', 'startWithin', 'concurrencyKey', 'notify'];
  name_form constant text := '^[[:alnum:]][[:alnum:]._:/-]*$';
  home constant text := (
    select nspname
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where pg_class.oid = 'runs'::regclass
  );
  given constant json := coalesce(options, '{}');
  payload constant json := coalesce(input, 'null');
  job_name constant text := job;
  settings json;
  fault text;
  part record;
  words text[];
  at timestamptz;
  made_at timestamptz;
  due timestamptz;
  held_until timestamptz;
  remembered_ms bigint;
  run_id uuid;
  holder uuid;
  digits text;
  rank bigint;
  state text;
  chosen_pool text;
  chosen_priority int;
  is_limited boolean;
begin
  select stored.settings into settings from jobs as stored where stored.name = job_name;
  if not found then
    raise exception 'JOB_UNKNOWN: There is no job named "%".', coalesce(job_name, 'null') using errcode = '22023',
      hint = 'Check the name, and that a process has declared it. Names that begin alike: ' || coalesce((
        select string_agg(stored.name, ', ' order by stored.name)
        from jobs as stored
        where lower(left(stored.name, 3)) = lower(left(job_name, 3))
      ), 'none') || '.';
  end if;
  if json_typeof(given) <> 'object' then
    raise exception 'OPTIONS_INVALID: options: expected an object' using errcode = '22023';
  end if;
  -- An option that is null is not given. One that is given twice counts once, as the last.
  for part in select key, value, value #>> '{}' as words, json_typeof(value) as kind from json_each(given) loop
    continue when part.kind = 'null' and part.key = any (known);
    fault := case
      when part.key <> all (known) then 'there is no such option; the options are ' || array_to_string(known, ', ')
      when part.key in ('delay', 'startWithin') and duration_ms(part.value) is null
        then 'expected milliseconds or a text like "250ms", "30s", "5m", "1.5h", "7d"'
      when part.key = 'timeout' and coalesce(duration_ms(part.value), 0) < 1
        then 'expected a duration of at least 1 ms'
      when part.key = 'keyFor' and part.words not in ('live', 'forever') and coalesce(duration_ms(part.value), 0) < 1
        then 'expected "live", "forever" or a duration like "1d"'
      when part.key = 'runAt' and (part.kind <> 'string' or part.words !~
        '^\d\d\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)$')
        then 'expected an instant with an offset, like "2026-03-01T09:00:00Z"'
      when part.key = 'priority' and (part.kind <> 'number' or part.words::numeric <> trunc(part.words::numeric)
        or part.words::numeric not between -1000000 and 1000000) then 'expected a whole number from -1000000 to 1000000'
      when part.key = 'pool' and (part.kind <> 'string' or part.words !~ name_form or length(part.words) > 100)
        then 'expected at most 100 letters, digits and any of "._:/-", beginning with a letter or digit'
      when part.key in ('tenant', 'key', 'concurrencyKey') and (part.kind <> 'string'
        or length(part.words) not between 1 and case part.key when 'tenant' then 200 else 500 end)
        then 'expected a text of 1 to ' || case part.key when 'tenant' then '200' else '500' end || ' characters'
      when part.key = 'notify' and part.kind <> 'boolean' then 'expected true or false'
      when part.key = 'tags' and part.kind <> 'array' then 'expected a list of at most 20 texts'
      when part.key = 'retry' and part.kind <> 'object' then 'expected an object'
    end;
    if fault is not null then
      raise exception 'OPTIONS_INVALID: options.%: %', part.key, fault using errcode = '22023';
    end if;
  end loop;
  if json_typeof(given -> 'tags') = 'array' then
    words := array(select value #>> '{}' from json_array_elements(given -> 'tags') where json_typeof(value) = 'string');
    if cardinality(words) <> json_array_length(given -> 'tags') or cardinality(words) > 20
      or exists (select from unnest(words) as tag where length(tag) not between 1 and 100) then
      raise exception 'OPTIONS_INVALID: options.tags: expected at most 20 texts of 1 to 100 characters'
        using errcode = '22023';
    end if;
  end if;
  if json_typeof(given -> 'retry') = 'object' then
    for part in
      select key, value, value #>> '{}' as words, json_typeof(value) as kind from json_each(given -> 'retry')
    loop
      fault := case
        when part.key = 'attempts' and (part.kind <> 'number' or part.words::numeric <> trunc(part.words::numeric)
          or part.words::numeric not between 1 and 1000) then 'expected a whole number from 1 to 1000'
        when part.key = 'factor' and (part.kind <> 'number' or part.words::numeric not between 1 and 100)
          then 'expected a number from 1 to 100'
        when part.key in ('base', 'cap', 'delay') and duration_ms(part.value) is null
          then 'expected milliseconds or a text like "250ms", "30s", "5m", "1.5h", "7d"'
        when part.key = 'delays' and part.kind <> 'array' then 'expected a list of 1 to 100 durations'
        when part.key not in ('attempts', 'base', 'factor', 'cap', 'delay', 'delays') then 'there is no such option'
      end;
      if fault is null and part.key = 'delays' and (json_array_length(part.value) not between 1 and 100
        or exists (select from json_array_elements(part.value) as wait where duration_ms(wait.value) is null)) then
        fault := 'expected a list of 1 to 100 durations';
      end if;
      if fault is not null then
        raise exception 'OPTIONS_INVALID: options.retry.%: %', part.key, fault using errcode = '22023';
      end if;
    end loop;
    fault := case
      when (select count(distinct case key when 'delay' then 1 when 'delays' then 2 else 3 end)
        from json_object_keys(given -> 'retry') as key where key <> 'attempts') > 1
        then 'set one kind of wait'
      when given #> '{retry,base}' is not null and given #> '{retry,cap}' is not null
        and duration_ms(given #> '{retry,cap}') < duration_ms(given #> '{retry,base}')
        then 'expected a `cap` at least as long as `base`'
    end;
    if fault is not null then
      raise exception 'OPTIONS_INVALID: options.retry: %', fault using errcode = '22023';
    end if;
  end if;
  is_limited := settings ->> 'concurrency' is not null;
  fault := case
    when given ->> 'delay' is not null and given ->> 'runAt' is not null
      then 'delay: expected either `delay` or `runAt`, got both'
    when given ->> 'keyFor' is not null and given ->> 'key' is null then 'key: expected a `key` to hold'
    when given ->> 'concurrencyKey' is not null and not is_limited
      then 'concurrencyKey: the job has no `concurrency` that it could divide'
  end;
  if fault is not null then
    raise exception 'OPTIONS_INVALID: options.%', fault using errcode = '22023';
  end if;
  if octet_length(convert_to(payload::text, 'UTF8')) > 1048576 then
    raise exception 'PAYLOAD_TOO_LARGE: The input has % bytes as JSON; the limit is 1048576.',
      octet_length(convert_to(payload::text, 'UTF8')) using errcode = '22023';
  end if;

  execute format('select %I.now()', home) into at;
  -- Version 7, as processes make them: the time of the system, twelve bits that grow within a millisecond, and chance.
  made_at := clock_timestamp();
  digits := lpad(to_hex(floor(extract(epoch from made_at) * 1000)::bigint), 12, '0') || '7'
    || lpad(to_hex((extract(microseconds from made_at)::bigint % 1000) * 4), 3, '0')
    || substr(replace(gen_random_uuid()::text, '-', ''), 17);
  run_id := digits::uuid;

  if given ->> 'key' is not null then
    held_until := case
      when given ->> 'keyFor' = 'live' then null
      when given ->> 'keyFor' = 'forever' then 'infinity'
      when given ->> 'keyFor' is not null then at + duration_ms(given -> 'keyFor') * interval '1 millisecond'
    end;
    -- As long as history knows the run, which leaves by whole days.
    remembered_ms := case when given ->> 'keyFor' is null then
      case settings ->> 'history' when 'short' then 2 when 'long' then 91 else 8 end * 86400000::bigint
    end;
    for tries in 1 .. 20 loop
      update keys as entry
      set run = run_id, expires_at = held_until, keep_ms = remembered_ms
      where entry.tenant = coalesce(given ->> 'tenant', '') and entry.job = job_name
        and entry.key = given ->> 'key' and entry.expires_at <= at
      returning entry.run into holder;
      exit when found;
      insert into keys (tenant, job, key, run, expires_at, keep_ms)
      values (coalesce(given ->> 'tenant', ''), job_name, given ->> 'key', run_id, held_until, remembered_ms)
      on conflict (tenant, job, key) do nothing
      returning run into holder;
      exit when found;
      select entry.run into holder
      from keys as entry
      where entry.tenant = coalesce(given ->> 'tenant', '') and entry.job = job_name
        and entry.key = given ->> 'key' and (entry.expires_at is null or entry.expires_at > at);
      exit when found;
    end loop;
    if holder is null then
      raise exception 'a key was taken and freed again and again, faster than it could be read' using errcode = '40001';
    end if;
    if holder <> run_id then
      return holder;
    end if;
  end if;

  due := coalesce((given ->> 'runAt')::timestamptz,
    at + coalesce(duration_ms(given -> 'delay'), 0) * interval '1 millisecond');
  if due not between timestamptz '1970-01-01 00:00:00Z' and timestamptz '9999-12-31 23:59:59.999Z' then
    raise exception 'OPTIONS_INVALID: options.runAt: expected an instant between the years 1970 and 9999'
      using errcode = '22023';
  end if;
  rank := (date_part('epoch', at) * 1000000)::bigint;
  state := case when due > at then 'waiting' when is_limited then 'parked' else 'queued' end;
  chosen_pool := coalesce(given ->> 'pool', settings ->> 'pool', 'default');
  chosen_priority := coalesce((given ->> 'priority')::numeric, (settings ->> 'priority')::numeric, 0);
  insert into runs (
    id, job, pool, priority, rank, stage, parked_for, solo, limited, enqueued_at, due_at, start_by, input, tenant, key,
    tags, timeout_ms, retry, history, bury_when_lost
  ) values (
    run_id, job_name, chosen_pool, chosen_priority, rank, state, case when state = 'parked' then 'limit' end,
    is_limited, is_limited, at, due,
    case when given ->> 'startWithin' is not null then
      least(due + duration_ms(given -> 'startWithin') * interval '1 millisecond',
        timestamptz '9999-12-31 23:59:59Z')
    end,
    payload, coalesce(given ->> 'tenant', ''), given ->> 'key', words, duration_ms(given -> 'timeout'),
    case when json_typeof(given -> 'retry') = 'object' then given -> 'retry' end,
    coalesce(settings ->> 'history', 'standard'), coalesce(settings ->> 'onLost' = 'bury', false)
  );
  if is_limited then
    insert into run_limits (run, key, kind, limit_name, admitted, priority, rank)
    values (run_id, 'job:' || job_name || coalesce(' ' || (given ->> 'concurrencyKey'), ''), 'job', 'job:' || job_name,
      case when state = 'parked' then false end, chosen_priority, rank);
  end if;
  if given ->> 'notify' = 'true' and state <> 'parked' then
    perform pg_notify(
      'carillon_' || left(encode(sha256(convert_to(home, 'UTF8')), 'hex'), 32),
      case state when 'waiting' then 'waiting'
        else format('ready any %s %s %s', chosen_priority, rank, chosen_pool) end
    );
  end if;
  return run_id;
end
$function$;
