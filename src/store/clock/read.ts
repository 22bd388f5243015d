import { instant } from "../codec.ts"
import { statement } from "../statement.ts"

/** What every statement takes for the present moment. */
export const readClock = statement({
  name: "clock/read",
  params: {},
  returns: { at: instant },
  sql: `select {now} as at`,
})
