-- A role that owns nothing here can work: what only the owner of the tables may do is done by functions that run as the
-- owner. They build every name themselves and check what they are given. Each finds its schema by the table `runs`, so
-- no name is written into a body. Only roles that were granted them may call them: `carillon db grant`.

-- Makes the partition of one class and day: beside its parent, and attached when it is complete.
create function {schema}.make_day(class text, day date) returns text
  language plpgsql security definer
  set search_path = pg_catalog, {schema}, pg_temp
  set lock_timeout = '5s'
as $function$
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
  -- What is like its parent is not like it in this (0009_identities.sql).
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

-- Makes the partition of one month of the ledger, or brings back one that was on its way out.
create function {schema}.make_month(month date) returns text
  language plpgsql security definer
  set search_path = pg_catalog, {schema}, pg_temp
  set lock_timeout = '5s'
as $function$
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

-- Drops a partition that was kept for long enough, and says whether it did. `detach ... concurrently` cannot be part of a
-- function, so the drop locks the table for a moment. Behind an open reader it gives up after a tenth of a second: no
-- settle waits for longer than that.
create function {schema}.drop_expired(child text, keep_ms float8) returns boolean
  language plpgsql security definer
  set search_path = pg_catalog, {schema}, pg_temp
  set lock_timeout = '100ms'
  set timezone = 'UTC'
  set datestyle = 'ISO, YMD'
as $function$
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
    -- Nobody writes to it until it is gone, or found to be needed.
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

revoke execute on function {schema}.make_day(text, date), {schema}.make_month(date),
  {schema}.drop_expired(text, float8) from public;
