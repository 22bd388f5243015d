/** Replaces the clock of a schema by one that a test can set. Only the test kit does this, in schemas of its own. */
import { instant } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * A clock that stands still at the moment of its installation. The function keeps its name, so no statement changes.
 */
export const installTestClock = `
  create table {test_clock} (one boolean primary key default true, at timestamptz not null);
  insert into {test_clock} (at) select date_trunc('milliseconds', {schema}.now());
  create or replace function {schema}.now() returns timestamptz
    language sql stable parallel safe
    return (select at from {test_clock});
`

export const setTestClock = statement({
  name: "clock/test-clock",
  params: { at: instant },
  returns: {},
  sql: `update {test_clock} set at = @at`,
})
