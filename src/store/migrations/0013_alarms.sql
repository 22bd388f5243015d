-- What is told once by all processes together: when one of them last looked, and what it last told.
create table {alarms} (
  name text primary key,
  looked_at timestamptz not null,
  -- Null while there is nothing to tell.
  raised_at timestamptz,
  told_at timestamptz
) with (fillfactor = 50);
