-- A schedule: what it makes runs of and when, and how far it has come. It is known by its id; a name belongs to the one
-- that has it now.
create table {schedules} (
  id uuid primary key,
  tenant text not null default '',
  name text not null,
  job text not null,
  -- When, as its user wrote it.
  spec json not null,
  input json not null,
  -- How: policies, and what its runs carry.
  settings json not null,
  state text not null,
  -- One more with every edit: whoever edits what is not there any more is refused.
  version int not null default 1,
  -- Every occurrence up to and including this is decided.
  cursor timestamptz not null,
  -- The next occurrence, and when it is due. Null in every state but active, and then only while it is held.
  next_occurrence timestamptz,
  next_at timestamptz,
  -- How many runs its occurrences have made.
  fired bigint not null default 0,
  paused_at timestamptz,
  -- A pause that ends by itself.
  resume_at timestamptz,
  -- Why it is in the state it is in: who paused it, or what is wrong with it.
  cause json,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  -- The application whose code declares it; null for one that was made by a call.
  declared_by text,
  -- Of a schedule that goes by the clock of a zone: by which edition of the zone data its next occurrence was computed,
  -- and what that clock read at the last occurrence that made a run. Editions are ordered as their bytes are.
  tzdb text collate "C",
  last_civil text,
  constraint schedules_state
    check (state in ('active', 'paused', 'completed', 'missed', 'retired', 'error', 'cancelled')),
  constraint schedules_next check ((next_at is null) = (next_occurrence is null)
    and (state = 'active' or next_at is null)),
  constraint schedules_paused check ((state = 'paused') = (paused_at is not null)
    and (resume_at is null or state = 'paused'))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

create unique index schedules_name on {schedules} (tenant, name);
create index schedules_due on {schedules} (next_at) where next_at is not null and tzdb is null;
create index schedules_due_by_zone on {schedules} (tzdb, next_at) where next_at is not null and tzdb is not null;
create index schedules_resuming on {schedules} (resume_at) where resume_at is not null;
create index schedules_declared on {schedules} (declared_by) where declared_by is not null;

-- A program whose code declares schedules, and the latest version of it that has: what an earlier one declares does not
-- count any more.
create table {applications} (
  name text primary key,
  version text,
  declared_at timestamptz not null
);

-- The newest zone data that a process has come with: one row, once there has been one.
create table {zone_data} (
  one boolean primary key default true,
  tzdb text collate "C" not null,
  raised_at timestamptz not null,
  constraint zone_data_one check (one)
);

-- The ledger of occurrences: one row for each that made a run, one for each stretch of those that made none. It outlives
-- the runs, so that an occurrence has one even when that has long been settled.
create table {fires} (
  schedule uuid not null,
  occurrence timestamptz not null,
  generation int not null default 1,
  outcome text not null,
  -- Why there is no run.
  reason text,
  due_at timestamptz,
  decided_at timestamptz not null,
  run uuid,
  -- Of a stretch: its last occurrence, and how many there are from `occurrence` to it.
  last timestamptz not null,
  count bigint not null default 1,
  -- The occurrence that makes up for these.
  into_occurrence timestamptz,
  primary key (schedule, occurrence, generation),
  constraint fires_outcome check (outcome in ('fired', 'coalesced', 'skipped', 'superseded')),
  constraint fires_run check ((run is not null) = (outcome in ('fired', 'superseded') or (outcome = 'coalesced' and reason = 'overlap'))),
  constraint fires_stretch check (last >= occurrence and count >= 1)
) partition by range (occurrence);

alter table {runs}
  -- The occurrences that a run makes up for.
  add column missed json,
  -- A run that is being replaced and has not ended by then is taken from its worker.
  add column end_by timestamptz,
  -- Made by a backfill, in a line of its own: no occurrence that comes due waits for it, or is left out because of it.
  add column backfill boolean not null default false;
-- A replay makes up for the same occurrences.
alter table {dead_letters} add column missed json;
-- Held together with its schedule, until that goes on.
alter table {runs}
  drop constraint runs_parked_for,
  add constraint runs_parked_for
    check ((state = 'parked') = (parked_for is not null) and parked_for in ('limit', 'pause', 'handler', 'hold'));
create index runs_ending on {runs} (end_by) where end_by is not null;
-- Live runs of a schedule are counted when it comes due.
create index runs_by_schedule on {runs} (schedule, backfill, occurrence) where schedule is not null;

-- How the runs of a schedule ended last: longer than history is kept, because some happen once a year. Apart from the
-- schedule, so that settling a run never waits for a tick.
create table {schedule_ends} (
  schedule text primary key,
  -- When the last one ended, however it did.
  ended_at timestamptz not null,
  result json,
  succeeded_at timestamptz,
  error json,
  failed_at timestamptz,
  -- In a row, since the last success.
  failures int not null default 0
) with (fillfactor = 70);
