/** The migration after the last one of this version, for tests of an upgrade: no release exists to upgrade from. */
import type { Migration } from "../../src/store/migrate.ts"
import { MIGRATIONS } from "../../src/store/migrations.generated.ts"

/** Adds what later versions usually add: columns with a backfill, an index, a table and a function. */
const NEXT: Migration = {
  version: MIGRATIONS.length + 1,
  name: "next",
  checksum: "next",
  sql: `
    alter table {runs} add column region text not null default 'home', add column note text;
    update {runs} set note = 'live at the upgrade';
    create index runs_by_region on {runs} (region) where region <> 'home';
    alter table {attempts} add column region text not null default 'home';
    alter table {dead_letters} add column region text not null default 'home';
    create table {regions} (name text primary key);
    insert into {regions} values ('home');
    create function {schema}.region(run {runs}) returns text language sql immutable return run.region;
  `,
}

/** The migrations of the version after this one. */
export const NEXT_MIGRATIONS: readonly Migration[] = [...MIGRATIONS, NEXT]
