import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Wakes whoever listens on the channel.
 *
 * A transaction of its own, without writes: inside one that writes, NOTIFY takes a lock across the whole
 * database until commit, and a full queue of notifications would abort the user's work.
 */
export const notify = statement({
  name: "wakeups/notify",
  params: { channel: text, payload: text },
  returns: { pg_notify: text },
  sql: `select pg_catalog.pg_notify(@channel, @payload)::text as pg_notify`,
})
