-- How far those have come who claim, so that one that starts need not walk over what is long gone while somebody holds
-- an old snapshot. No more than a hint: deleting a row is always safe, and whoever starts then begins at the bottom.
create table {low_water} (
  pool text not null,
  -- Of `jobs`, which may be more than an index takes.
  jobs_hash bigint not null,
  -- Of other jobs there may be runs below the ranks.
  jobs text[] not null,
  -- One of each for every lane.
  solos boolean[] not null,
  priorities int[] not null,
  ranks bigint[] not null,
  -- Transactions that had been open for long: what they bring may be anywhere below.
  late bigint[] not null,
  -- The rank of the moment at which it was so.
  clock bigint not null,
  published_at timestamptz not null,
  primary key (pool, jobs_hash)
) with (fillfactor = 50);
