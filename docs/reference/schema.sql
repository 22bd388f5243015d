-- Generated from the migrations by `npm run generate`. Do not edit.
-- Carillon also creates one partition per day for the history tables (`attempts`).

CREATE OR REPLACE FUNCTION carillon.now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 PARALLEL SAFE
RETURN clock_timestamp();

CREATE TABLE carillon.alarms (
  name text NOT NULL,
  looked_at timestamp with time zone NOT NULL,
  raised_at timestamp with time zone,
  told_at timestamp with time zone,
  CONSTRAINT alarms_pkey PRIMARY KEY (name)
) WITH (fillfactor=50);

CREATE TABLE carillon.applications (
  name text NOT NULL,
  version text,
  declared_at timestamp with time zone NOT NULL,
  CONSTRAINT applications_pkey PRIMARY KEY (name)
);

CREATE TABLE carillon.attempts (
  run uuid NOT NULL,
  claim bigint,
  attempt integer NOT NULL,
  job text NOT NULL,
  pool text NOT NULL,
  lease uuid,
  enqueued_at timestamp with time zone NOT NULL,
  due_at timestamp with time zone NOT NULL,
  started_at timestamp with time zone,
  finished_at timestamp with time zone NOT NULL,
  outcome text NOT NULL,
  run_state text,
  input json,
  result json,
  error_code text,
  error_message text,
  error_stack text,
  history text DEFAULT 'standard'::text NOT NULL,
  tenant text DEFAULT ''::text NOT NULL,
  generation integer DEFAULT 1 NOT NULL,
  charged boolean DEFAULT true NOT NULL,
  cause text,
  worker text,
  version text,
  schedule text,
  occurrence timestamp with time zone,
  logs json,
  fingerprint text,
  priority integer,
  key text,
  tags text[],
  timeout_ms bigint,
  missed json,
  CONSTRAINT attempts_last_has_input CHECK (((run_state IS NULL) = (input IS NULL))),
  CONSTRAINT attempts_outcome CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'failed'::text, 'timed_out'::text, 'released'::text, 'lost'::text, 'cancelled'::text, 'expired'::text, 'snoozed'::text]))),
  CONSTRAINT attempts_run_state CHECK ((run_state = ANY (ARRAY['succeeded'::text, 'dead'::text, 'cancelled'::text, 'expired'::text, 'discarded'::text])))
) PARTITION BY LIST (history);
CREATE INDEX attempts_by_job ON ONLY carillon.attempts USING btree (job, run);
CREATE INDEX attempts_by_run ON ONLY carillon.attempts USING btree (run);
CREATE INDEX attempts_by_schedule ON ONLY carillon.attempts USING btree (schedule, run) WHERE (schedule IS NOT NULL);
CREATE INDEX attempts_by_tenant ON ONLY carillon.attempts USING btree (tenant, run) WHERE (tenant <> ''::text);
ALTER TABLE carillon.attempts REPLICA IDENTITY FULL;

CREATE TABLE carillon.audit (
  at timestamp with time zone NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  reason text NOT NULL,
  before json,
  after json,
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  CONSTRAINT audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_action ON carillon.audit USING btree (action, at, id);
CREATE INDEX audit_actor ON carillon.audit USING btree (actor, at, id);
CREATE INDEX audit_at ON carillon.audit USING btree (at, id);
CREATE INDEX audit_subject ON carillon.audit USING btree (subject, at, id);

CREATE TABLE carillon.bulk (
  id uuid NOT NULL,
  action text NOT NULL,
  filter text NOT NULL,
  options json NOT NULL,
  pace text,
  actor text NOT NULL,
  reason text NOT NULL,
  state text NOT NULL,
  cursor uuid DEFAULT 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid NOT NULL,
  next_at timestamp with time zone NOT NULL,
  done bigint DEFAULT 0 NOT NULL,
  skipped bigint DEFAULT 0 NOT NULL,
  failed bigint DEFAULT 0 NOT NULL,
  errors json DEFAULT '[]'::json NOT NULL,
  started_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone,
  told_at timestamp with time zone,
  CONSTRAINT bulk_pkey PRIMARY KEY (id),
  CONSTRAINT bulk_finished CHECK (((finished_at IS NOT NULL) = (state = ANY (ARRAY['aborted'::text, 'done'::text])))),
  CONSTRAINT bulk_state CHECK ((state = ANY (ARRAY['running'::text, 'paused'::text, 'aborted'::text, 'done'::text])))
) WITH (fillfactor=50);
CREATE INDEX bulk_running ON carillon.bulk USING btree (id) WHERE (state = 'running'::text);

CREATE TABLE carillon.claims (
  lease uuid NOT NULL,
  claim bigint NOT NULL,
  runs uuid[] NOT NULL,
  CONSTRAINT claims_pkey PRIMARY KEY (lease, claim)
);

CREATE TABLE carillon.dead_letters (
  run uuid NOT NULL,
  job text NOT NULL,
  pool text NOT NULL,
  priority integer NOT NULL,
  attempts integer NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  died_at timestamp with time zone NOT NULL,
  input json NOT NULL,
  error_code text,
  error_message text,
  error_stack text,
  tenant text DEFAULT ''::text NOT NULL,
  generation integer DEFAULT 1 NOT NULL,
  claims integer DEFAULT 0 NOT NULL,
  bury_when_lost boolean DEFAULT false NOT NULL,
  tags text[],
  timeout_ms bigint,
  retry json,
  history text DEFAULT 'standard'::text NOT NULL,
  fingerprint text NOT NULL,
  schedule text,
  occurrence timestamp with time zone,
  limits json,
  missed json,
  key text,
  due_at timestamp with time zone,
  started_at timestamp with time zone,
  worker text,
  version text,
  CONSTRAINT dead_letters_pkey PRIMARY KEY (run)
);
CREATE INDEX dead_letters_age ON carillon.dead_letters USING btree (died_at);
CREATE INDEX dead_letters_group ON carillon.dead_letters USING btree (job, fingerprint, died_at);
CREATE INDEX dead_letters_job ON carillon.dead_letters USING btree (job, died_at);
CREATE INDEX dead_letters_tenant ON carillon.dead_letters USING btree (tenant, died_at) WHERE (tenant <> ''::text);

CREATE TABLE carillon.depths (
  step text NOT NULL,
  at timestamp with time zone NOT NULL,
  pool text NOT NULL,
  waiting bigint NOT NULL,
  parked bigint NOT NULL,
  ready bigint NOT NULL,
  running bigint NOT NULL,
  capped boolean NOT NULL,
  oldest_due_ms bigint NOT NULL,
  slots integer NOT NULL,
  used integer NOT NULL,
  CONSTRAINT depths_pkey PRIMARY KEY (step, at, pool),
  CONSTRAINT depths_step CHECK ((step = ANY (ARRAY['minute'::text, 'hour'::text])))
) WITH (fillfactor=50);

CREATE TABLE carillon.error_groups (
  job text NOT NULL,
  fingerprint text NOT NULL,
  state text NOT NULL,
  version text,
  changed_at timestamp with time zone NOT NULL,
  CONSTRAINT error_groups_pkey PRIMARY KEY (job, fingerprint),
  CONSTRAINT error_groups_state CHECK ((state = ANY (ARRAY['resolved'::text, 'ignored'::text]))),
  CONSTRAINT error_groups_version CHECK (((version IS NULL) OR (state = 'resolved'::text)))
);

CREATE TABLE carillon.fires (
  schedule uuid NOT NULL,
  occurrence timestamp with time zone NOT NULL,
  generation integer DEFAULT 1 NOT NULL,
  outcome text NOT NULL,
  reason text,
  due_at timestamp with time zone,
  decided_at timestamp with time zone NOT NULL,
  run uuid,
  last timestamp with time zone NOT NULL,
  count bigint DEFAULT 1 NOT NULL,
  into_occurrence timestamp with time zone,
  CONSTRAINT fires_pkey PRIMARY KEY (schedule, occurrence, generation),
  CONSTRAINT fires_outcome CHECK ((outcome = ANY (ARRAY['fired'::text, 'coalesced'::text, 'skipped'::text, 'superseded'::text]))),
  CONSTRAINT fires_run CHECK (((run IS NOT NULL) = ((outcome = ANY (ARRAY['fired'::text, 'superseded'::text])) OR ((outcome = 'coalesced'::text) AND (reason = 'overlap'::text))))),
  CONSTRAINT fires_stretch CHECK (((last >= occurrence) AND (count >= 1)))
) PARTITION BY RANGE (occurrence);

CREATE TABLE carillon.jobs (
  name text NOT NULL,
  settings json NOT NULL,
  version text,
  declared_at timestamp with time zone NOT NULL,
  described json,
  CONSTRAINT jobs_pkey PRIMARY KEY (name)
);

CREATE TABLE carillon.keys (
  tenant text NOT NULL,
  job text NOT NULL,
  key text NOT NULL,
  run uuid NOT NULL,
  expires_at timestamp with time zone,
  keep_ms bigint,
  CONSTRAINT keys_pkey PRIMARY KEY (tenant, job, key)
) WITH (fillfactor=70);
CREATE INDEX keys_expiring ON carillon.keys USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE TABLE carillon.limit_waves (
  key text NOT NULL,
  waves integer[] NOT NULL,
  opened_at timestamp with time zone NOT NULL,
  CONSTRAINT limit_waves_pkey PRIMARY KEY (key),
  CONSTRAINT limit_waves_open CHECK ((cardinality(waves) > 0))
) WITH (fillfactor=50);

CREATE TABLE carillon.limits (
  name text NOT NULL,
  cap integer NOT NULL,
  CONSTRAINT limits_pkey PRIMARY KEY (name),
  CONSTRAINT limits_cap CHECK ((cap >= 0))
);

CREATE TABLE carillon.low_water (
  pool text NOT NULL,
  jobs_hash bigint NOT NULL,
  jobs text[] NOT NULL,
  solos boolean[] NOT NULL,
  priorities integer[] NOT NULL,
  ranks bigint[] NOT NULL,
  late bigint[] NOT NULL,
  clock bigint NOT NULL,
  published_at timestamp with time zone NOT NULL,
  CONSTRAINT low_water_pkey PRIMARY KEY (pool, jobs_hash)
) WITH (fillfactor=50);

CREATE TABLE carillon.migrations (
  version integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT migrations_pkey PRIMARY KEY (version)
);

CREATE TABLE carillon.overrides (
  job text NOT NULL,
  setting text NOT NULL,
  value json NOT NULL,
  set_at timestamp with time zone NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL,
  ends_at timestamp with time zone,
  CONSTRAINT overrides_pkey PRIMARY KEY (job, setting),
  CONSTRAINT overrides_setting CHECK ((setting = ANY (ARRAY['retry'::text, 'timeout'::text, 'concurrency'::text])))
);

CREATE TABLE carillon.pauses (
  kind text NOT NULL,
  name text NOT NULL,
  paused_at timestamp with time zone NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL,
  ends_at timestamp with time zone,
  ramp_ms bigint,
  CONSTRAINT pauses_pkey PRIMARY KEY (kind, name),
  CONSTRAINT pauses_kind CHECK ((kind = ANY (ARRAY['job'::text, 'pool'::text, 'tenant'::text, 'everything'::text]))),
  CONSTRAINT pauses_name CHECK (((kind = 'everything'::text) = (name = ''::text)))
);

CREATE TABLE carillon.ramps (
  kind text NOT NULL,
  name text NOT NULL,
  paused_at timestamp with time zone NOT NULL,
  from_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone NOT NULL,
  parked bigint NOT NULL,
  released bigint DEFAULT 0 NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL,
  CONSTRAINT ramps_pkey PRIMARY KEY (kind, name)
);

CREATE TABLE carillon.run_limits (
  run uuid NOT NULL,
  key text NOT NULL,
  kind text NOT NULL,
  limit_name text,
  admitted boolean,
  priority integer NOT NULL,
  rank bigint NOT NULL,
  wave integer,
  CONSTRAINT run_limits_pkey PRIMARY KEY (run, key),
  CONSTRAINT run_limits_kind CHECK ((kind = ANY (ARRAY['schedule'::text, 'overlap'::text, 'backfill'::text, 'job'::text]))),
  CONSTRAINT run_limits_named CHECK (((kind <> 'job'::text) OR (limit_name IS NOT NULL))),
  CONSTRAINT run_limits_wave CHECK (((admitted IS NOT TRUE) OR (wave IS NOT NULL)))
) WITH (fillfactor=70);
CREATE INDEX run_limits_admitted ON carillon.run_limits USING btree (key, wave) WHERE admitted;
CREATE INDEX run_limits_parked ON carillon.run_limits USING btree (key, priority DESC, rank) WHERE (NOT admitted);

CREATE TABLE carillon.runs (
  id uuid NOT NULL,
  job text NOT NULL,
  pool text NOT NULL,
  priority integer NOT NULL,
  rank bigint NOT NULL,
  stage text NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  due_at timestamp with time zone NOT NULL,
  attempt integer DEFAULT 0 NOT NULL,
  input json NOT NULL,
  lease uuid,
  claim bigint,
  tenant text DEFAULT ''::text NOT NULL,
  generation integer DEFAULT 1 NOT NULL,
  claims integer DEFAULT 0 NOT NULL,
  solo boolean DEFAULT false NOT NULL,
  suspect boolean DEFAULT false NOT NULL,
  started boolean DEFAULT false NOT NULL,
  bury_when_lost boolean DEFAULT false NOT NULL,
  cancelling boolean DEFAULT false NOT NULL,
  limited boolean DEFAULT false NOT NULL,
  parked_for text,
  cause text,
  start_by timestamp with time zone,
  key text,
  tags text[],
  timeout_ms bigint,
  retry json,
  history text DEFAULT 'standard'::text NOT NULL,
  last_error json,
  progress json,
  schedule text,
  occurrence timestamp with time zone,
  missed json,
  end_by timestamp with time zone,
  backfill boolean DEFAULT false NOT NULL,
  CONSTRAINT runs_pkey PRIMARY KEY (id),
  CONSTRAINT runs_history CHECK ((history = ANY (ARRAY['short'::text, 'standard'::text, 'long'::text]))),
  CONSTRAINT runs_leased_is_fenced CHECK ((((lease IS NULL) = (claim IS NULL)) AND ((lease IS NULL) OR (stage = 'queued'::text)))),
  CONSTRAINT runs_parked_for CHECK ((((stage = 'parked'::text) = (parked_for IS NOT NULL)) AND (parked_for = ANY (ARRAY['limit'::text, 'pause'::text, 'tenant'::text, 'handler'::text, 'hold'::text])))),
  CONSTRAINT runs_stage CHECK ((stage = ANY (ARRAY['waiting'::text, 'parked'::text, 'queued'::text])))
) WITH (autovacuum_vacuum_scale_factor=0.02, fillfactor=30);
CREATE INDEX runs_by_schedule ON carillon.runs USING btree (schedule, backfill, occurrence) WHERE (schedule IS NOT NULL);
CREATE INDEX runs_cancelling ON carillon.runs USING btree (id) WHERE cancelling;
CREATE INDEX runs_ending ON carillon.runs USING btree (end_by) WHERE (end_by IS NOT NULL);
CREATE INDEX runs_parked ON carillon.runs USING btree (parked_for, job, pool, rank) WHERE ((stage = 'parked'::text) AND (parked_for <> 'limit'::text));
CREATE INDEX runs_parked_tenant ON carillon.runs USING btree (tenant, rank) WHERE (parked_for = 'tenant'::text);
CREATE INDEX runs_queued ON carillon.runs USING btree (pool, solo, priority DESC, rank) WHERE (stage = 'queued'::text);
CREATE INDEX runs_waiting ON carillon.runs USING btree (due_at) WHERE (stage = 'waiting'::text);

CREATE TABLE carillon.schedule_ends (
  schedule text NOT NULL,
  ended_at timestamp with time zone NOT NULL,
  result json,
  succeeded_at timestamp with time zone,
  error json,
  failed_at timestamp with time zone,
  failures integer DEFAULT 0 NOT NULL,
  CONSTRAINT schedule_ends_pkey PRIMARY KEY (schedule)
) WITH (fillfactor=70);

CREATE TABLE carillon.schedules (
  id uuid NOT NULL,
  tenant text DEFAULT ''::text NOT NULL,
  name text NOT NULL,
  job text NOT NULL,
  spec json NOT NULL,
  input json NOT NULL,
  settings json NOT NULL,
  state text NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  cursor timestamp with time zone NOT NULL,
  next_occurrence timestamp with time zone,
  next_at timestamp with time zone,
  fired bigint DEFAULT 0 NOT NULL,
  paused_at timestamp with time zone,
  resume_at timestamp with time zone,
  cause json,
  created_at timestamp with time zone NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  declared_by text,
  tzdb text,
  last_civil text,
  CONSTRAINT schedules_pkey PRIMARY KEY (id),
  CONSTRAINT schedules_next CHECK ((((next_at IS NULL) = (next_occurrence IS NULL)) AND ((state = 'active'::text) OR (next_at IS NULL)))),
  CONSTRAINT schedules_paused CHECK ((((state = 'paused'::text) = (paused_at IS NOT NULL)) AND ((resume_at IS NULL) OR (state = 'paused'::text)))),
  CONSTRAINT schedules_state CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'completed'::text, 'missed'::text, 'retired'::text, 'error'::text, 'cancelled'::text])))
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX schedules_declared ON carillon.schedules USING btree (declared_by) WHERE (declared_by IS NOT NULL);
CREATE INDEX schedules_due ON carillon.schedules USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (tzdb IS NULL));
CREATE INDEX schedules_due_by_zone ON carillon.schedules USING btree (tzdb, next_at) WHERE ((next_at IS NOT NULL) AND (tzdb IS NOT NULL));
CREATE UNIQUE INDEX schedules_name ON carillon.schedules USING btree (tenant, name);
CREATE INDEX schedules_resuming ON carillon.schedules USING btree (resume_at) WHERE (resume_at IS NOT NULL);

CREATE TABLE carillon.stats (
  part uuid NOT NULL,
  place integer NOT NULL,
  step text NOT NULL,
  at timestamp with time zone NOT NULL,
  job text NOT NULL,
  pool text NOT NULL,
  tenant text,
  outcome text NOT NULL,
  ends bigint NOT NULL,
  retries bigint NOT NULL,
  dead bigint NOT NULL,
  wait_ms bigint NOT NULL,
  waits bigint[] NOT NULL,
  duration_ms bigint NOT NULL,
  durations bigint[] NOT NULL,
  CONSTRAINT stats_pkey PRIMARY KEY (part, place),
  CONSTRAINT stats_step CHECK ((step = ANY (ARRAY['part'::text, 'minute'::text, 'hour'::text, 'part_by_tenant'::text, 'minute_by_tenant'::text, 'hour_by_tenant'::text])))
);
CREATE INDEX stats_at ON carillon.stats USING btree (step, at);

CREATE TABLE carillon.tokens (
  id text NOT NULL,
  hash text NOT NULL,
  name text NOT NULL,
  scopes text NOT NULL,
  tenant text DEFAULT ''::text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  created_by text NOT NULL,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  CONSTRAINT tokens_pkey PRIMARY KEY (id)
);

CREATE TABLE carillon.workers (
  lease uuid NOT NULL,
  hostname text NOT NULL,
  pid integer NOT NULL,
  pools text[] NOT NULL,
  started_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  dead boolean DEFAULT false NOT NULL,
  jobs text[] DEFAULT '{}'::text[] NOT NULL,
  version text,
  home text,
  born text,
  slots integer[] DEFAULT '{}'::integer[] NOT NULL,
  used integer[] DEFAULT '{}'::integer[] NOT NULL,
  delay_ms integer,
  memory_bytes bigint,
  measured_at timestamp with time zone,
  CONSTRAINT workers_pkey PRIMARY KEY (lease)
) WITH (fillfactor=50);

CREATE TABLE carillon.zone_data (
  one boolean DEFAULT true NOT NULL,
  tzdb text NOT NULL,
  raised_at timestamp with time zone NOT NULL,
  CONSTRAINT zone_data_pkey PRIMARY KEY (one),
  CONSTRAINT zone_data_one CHECK (one)
);

CREATE OR REPLACE FUNCTION carillon.drop_expired(child text, keep_ms double precision)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'carillon', 'pg_temp'
 SET lock_timeout TO '100ms'
 SET "TimeZone" TO 'UTC'
 SET "DateStyle" TO 'ISO, YMD'
AS $function$
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

CREATE OR REPLACE FUNCTION carillon.duration_ms(value json)
 RETURNS bigint
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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

CREATE OR REPLACE FUNCTION carillon.enqueue(job text, input json DEFAULT 'null'::json, options json DEFAULT '{}'::json)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'carillon', 'pg_temp'
 SET array_nulls TO 'on'
 SET standard_conforming_strings TO 'on'
AS $function$
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

CREATE OR REPLACE FUNCTION carillon.make_day(class text, day date)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'carillon', 'pg_temp'
 SET lock_timeout TO '5s'
AS $function$
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

CREATE OR REPLACE FUNCTION carillon.make_month(month date)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'carillon', 'pg_temp'
 SET lock_timeout TO '5s'
AS $function$
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

CREATE OR REPLACE FUNCTION carillon.state(run carillon.runs)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((run).lease IS NOT NULL) THEN 'running'::text WHEN ((run).stage = 'queued'::text) THEN 'ready'::text ELSE (run).stage END;
