/** The clock of a schema, replaced by one that a test can set. Only the test kit does this, in schemas of its own. */
import { instant } from "../codec.ts"
import { statement } from "../statement.ts"

/** A clock that stands still at the moment of its installation. The function keeps its name, so no statement changes. */
export const installTestClock = `
  create table {test_clock} (at timestamptz not null);
  insert into {test_clock} select date_trunc('milliseconds', {schema}.now());
  create or replace function {schema}.now() returns timestamptz
    language sql stable parallel safe
    return (select at from {test_clock});
`

export const setTestClock = statement({
  name: "clock/set-test-clock",
  params: { at: instant },
  returns: {},
  sql: `update {test_clock} set at = @at`,
})

/** What every statement takes for the present moment. */
export const readClock = statement({
  name: "clock/read",
  params: {},
  returns: { at: instant },
  sql: `select {now} as at`,
})
