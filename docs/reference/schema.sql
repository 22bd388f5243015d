-- Generated from the migrations by `npm run generate`. Do not edit.
-- The tables of history, `attempts`, also have a partition for each day, which Carillon makes by itself.

CREATE OR REPLACE FUNCTION carillon.now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN clock_timestamp();

CREATE TABLE carillon.attempts (
  run uuid NOT NULL,
  claim bigint NOT NULL,
  attempt integer NOT NULL,
  job text NOT NULL,
  pool text NOT NULL,
  lease uuid NOT NULL,
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
  CONSTRAINT attempts_last_has_input CHECK (((run_state IS NULL) = (input IS NULL))),
  CONSTRAINT attempts_outcome CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'failed'::text, 'timed_out'::text, 'released'::text, 'lost'::text]))),
  CONSTRAINT attempts_run_state CHECK ((run_state = ANY (ARRAY['succeeded'::text, 'dead'::text, 'cancelled'::text, 'expired'::text, 'discarded'::text])))
) PARTITION BY RANGE (finished_at);
CREATE INDEX attempts_job ON ONLY carillon.attempts USING btree (job, finished_at);
CREATE INDEX attempts_run ON ONLY carillon.attempts USING btree (run);

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
  CONSTRAINT dead_letters_pkey PRIMARY KEY (run)
);
CREATE INDEX dead_letters_job ON carillon.dead_letters USING btree (job, died_at);

CREATE TABLE carillon.migrations (
  version integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT migrations_pkey PRIMARY KEY (version)
);

CREATE TABLE carillon.runs (
  id uuid NOT NULL,
  job text NOT NULL,
  pool text NOT NULL,
  priority integer NOT NULL,
  rank bigint NOT NULL,
  state text NOT NULL,
  enqueued_at timestamp with time zone NOT NULL,
  due_at timestamp with time zone NOT NULL,
  attempt integer DEFAULT 0 NOT NULL,
  input json NOT NULL,
  lease uuid,
  claim bigint,
  CONSTRAINT runs_pkey PRIMARY KEY (id),
  CONSTRAINT runs_running_is_fenced CHECK (((state = 'running'::text) = ((lease IS NOT NULL) AND (claim IS NOT NULL)))),
  CONSTRAINT runs_state CHECK ((state = ANY (ARRAY['waiting'::text, 'parked'::text, 'ready'::text, 'running'::text])))
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX runs_leased ON carillon.runs USING btree (lease) WHERE (state = 'running'::text);
CREATE INDEX runs_ready ON carillon.runs USING btree (pool, priority DESC, rank) WHERE (state = 'ready'::text);
CREATE INDEX runs_waiting ON carillon.runs USING btree (due_at) WHERE (state = 'waiting'::text);

CREATE TABLE carillon.workers (
  lease uuid NOT NULL,
  hostname text NOT NULL,
  pid integer NOT NULL,
  pools text[] NOT NULL,
  started_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  dead boolean DEFAULT false NOT NULL,
  CONSTRAINT workers_pkey PRIMARY KEY (lease)
) WITH (fillfactor=50);
