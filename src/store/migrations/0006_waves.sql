-- While somebody holds an old snapshot, whoever has ended still stands in the index of those under a key, and counting
-- walks over all of them. So those under a key are admitted in waves, and waves in which nobody is left are not counted.
-- Whoever admits without saying in which wave, as earlier versions do, is refused: nobody would count it.
alter table {run_limits} add column wave int;
update {run_limits} set wave = 0 where admitted;
alter table {run_limits} add constraint run_limits_wave check (admitted is not true or wave is not null);
drop index {run_limits_admitted};
create index run_limits_admitted on {run_limits} (key, wave) where admitted;

-- Of keys under which several have gone on. Deleting a row is always safe: then all waves are counted.
create table {limit_waves} (
  key text primary key,
  -- Every wave that somebody may be in, in order. The last is the one in which runs are admitted now.
  waves int[] not null constraint limit_waves_open check (cardinality(waves) > 0),
  opened_at timestamptz not null
) with (fillfactor = 50);
