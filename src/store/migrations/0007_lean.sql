-- What follows from other columns is not kept: as a column, the state of a run cost the server an eighth of every enqueue
-- and of every claim. Whoever wants to read it asks for `state(run)`, which the planner replaces by what stands here.
alter table {runs} drop column state;
create function {schema}.state(run {runs}) returns text
  language sql immutable parallel safe
  return case when run.lease is not null then 'running' when run.stage = 'queued' then 'ready' else run.stage end;

-- Declared as what it is, the clock is replaced by its body as well, and costs no call. Every statement reads it in a
-- sub-select of its own: once, and good as a bound of an index scan, whatever is declared here.
alter function {schema}.now() volatile;
