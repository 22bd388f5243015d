-- A claim writes nothing of a run that an index knows, so that PostgreSQL writes no index for it: the new version of the
-- row stands beside the old one, on the same page. What indexes know is the stage of a run. A queued one with a lease is
-- running, and leads back from its lease by way of the claim that took it.
drop index {runs_ready};
drop index {runs_waiting};
drop index {runs_parked};
drop index {runs_leased};
alter table {runs}
  drop constraint runs_state,
  drop constraint runs_running_is_fenced,
  drop constraint runs_parked_for;
alter table {runs} rename column state to stage;
update {runs} set stage = 'queued' where stage in ('ready', 'running');
alter table {runs}
  add constraint runs_stage check (stage in ('waiting', 'parked', 'queued')),
  add constraint runs_leased_is_fenced check ((lease is null) = (claim is null) and (lease is null or stage = 'queued')),
  add constraint runs_parked_for
    check ((stage = 'parked') = (parked_for is not null) and parked_for in ('limit', 'pause', 'handler', 'hold')),
  -- What everybody reads. In no index: it changes with every claim.
  add column state text not null generated always as (
    case when lease is not null then 'running' when stage = 'queued' then 'ready' else stage end
  ) stored,
  -- Room on every page for one more version of each of its rows, which is a little longer.
  set (fillfactor = 45);

-- The order of claims, and what is running: a claim begins behind that, where the last one ended.
create index runs_queued on {runs} (pool, solo, priority desc, rank) where stage = 'queued';
-- What becomes due next.
create index runs_waiting on {runs} (due_at) where stage = 'waiting';
-- What is parked until a pause ends or a worker with a handler comes, and is given back in its order.
create index runs_parked on {runs} (parked_for, job, pool, rank) where stage = 'parked' and parked_for <> 'limit';
-- What is running and is not wanted any more: never many.
create index runs_cancelling on {runs} (id) where cancelling;

-- What each claim took, until its worker has ended all of it. What is not running any more under this lease and claim has
-- ended, whatever stands here.
create table {claims} (
  lease uuid not null,
  claim bigint not null,
  runs uuid[] not null,
  primary key (lease, claim)
);
-- Ids do not become shorter.
alter table {claims} alter column runs set storage external;
insert into {claims} (lease, claim, runs)
select lease, claim, array_agg(id)
from {runs}
where lease is not null
group by lease, claim;
analyze {runs};
