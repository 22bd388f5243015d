-- Under a publication for all tables PostgreSQL refuses to delete or change rows that logical replication could not tell
-- apart. An id that is drawn, and not counted: a sequence is not replicated, so after a switch to a replica it would
-- begin anew and collide.
alter table {audit} add column id uuid primary key default pg_catalog.gen_random_uuid();
-- History is only appended. An index of its own would make every settle dearer, and the identity is never written.
alter table {attempts} replica identity full;
alter table {attempts_short} replica identity full;
alter table {attempts_standard} replica identity full;
alter table {attempts_long} replica identity full;
-- Partitions do not inherit it. Those to come are made with it.
do $$
declare
  part pg_catalog.regclass;
begin
  for part in
    select relid from pg_catalog.pg_partition_tree($name${attempts}$name$) where isleaf
  loop
    execute pg_catalog.format('alter table %s replica identity full', part);
  end loop;
end
$$;
