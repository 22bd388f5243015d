-- The clock: every statement that needs the time calls this function, and nothing else.
-- Stable, so that "due_at <= now()" is an index condition and not a filter.
-- clock_timestamp(), so that a statement that waited for a lock does not work with the time before it.
create function {schema}.now() returns timestamptz
  language sql stable parallel safe
  return pg_catalog.clock_timestamp();

-- Live runs only: what is finished leaves this table, so it stays as small as the backlog.
create table {runs} (
  id uuid primary key,
  job text not null,
  pool text not null,
  -- Higher goes first.
  priority int not null,
  -- Lower goes first within a priority. Written in the statement that makes the run ready, never earlier.
  rank bigint not null,
  state text not null constraint runs_state check (state in ('waiting', 'parked', 'ready', 'running')),
  enqueued_at timestamptz not null,
  due_at timestamptz not null,
  -- Tries that were charged so far.
  attempt int not null default 0,
  -- The text as it was given: jsonb would drop the order of keys and refuse \u0000.
  input json not null,
  -- Together the fence: every write about a running run presents both.
  lease uuid,
  claim bigint,
  constraint runs_running_is_fenced check ((state = 'running') = (lease is not null and claim is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

-- The order of claims. Only ready runs are in it: a million future ones cost a claim nothing.
create index runs_ready on {runs} (pool, priority desc, rank) where state = 'ready';
-- What becomes due next.
create index runs_waiting on {runs} (due_at) where state = 'waiting';
-- What a lost lease held.
create index runs_leased on {runs} (lease) where state = 'running';

-- One row per attempt, only ever appended; the last one of a run carries what became of it.
create table {attempts} (
  run uuid not null,
  claim bigint not null,
  attempt int not null,
  job text not null,
  pool text not null,
  lease uuid not null,
  enqueued_at timestamptz not null,
  due_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz not null,
  outcome text not null constraint attempts_outcome
    check (outcome in ('succeeded', 'failed', 'timed_out', 'released', 'lost')),
  -- The final state of the run, on its last attempt.
  run_state text constraint attempts_run_state
    check (run_state in ('succeeded', 'dead', 'cancelled', 'expired', 'discarded')),
  -- Kept with the last attempt, when the run itself is gone.
  input json,
  result json,
  error_code text,
  error_message text,
  error_stack text,
  constraint attempts_last_has_input check ((run_state is null) = (input is null))
) partition by range (finished_at);

create index attempts_run on {attempts} (run);
create index attempts_job on {attempts} (job, finished_at);

-- Runs that failed for good, kept until someone acts; they outlive history.
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
  error_stack text
);

create index dead_letters_job on {dead_letters} (job, died_at);

-- One row per lease of a process, however many runs it holds. Dead ones stay for a while as tombstones.
create table {workers} (
  lease uuid primary key,
  hostname text not null,
  pid int not null,
  pools text[] not null,
  started_at timestamptz not null,
  expires_at timestamptz not null,
  dead boolean not null default false
) with (fillfactor = 50);
