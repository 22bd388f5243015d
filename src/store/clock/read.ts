import { instant } from "../codec.ts"
import { statement } from "../statement.ts"

/** The present time, as every statement reads it. */
export const readClock = statement({
  name: "clock/read",
  params: {},
  returns: { at: instant },
  sql: `select {now} as at`,
})
