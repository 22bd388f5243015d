import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Notifies the listeners of a channel.
 *
 * A transaction of its own, without writes. In a transaction that writes, NOTIFY takes a lock across the whole database
 * until commit, and a full notification queue would abort the user's work.
 */
export const notify = statement({
  name: "wakeups/notify",
  params: { channel: text, payload: text },
  returns: { pg_notify: text },
  sql: `select pg_catalog.pg_notify(@channel, @payload)::text as pg_notify`,
})
