/** Rows that need more than one machine with one server, and what they wait for. */
import type { Story } from "../fault.ts"

const later = (id: Story["id"], title: string, what: string): Story => ({
  id,
  title,
  needs: () => what,
  tell: () => Promise.reject(new Error(`${id} needs ${what}`)),
})

export const laterRows: readonly Story[] = [
  later("F35", "an asynchronous standby takes over", "a standby"),
  later("F36", "a synchronous standby takes over", "a standby"),
  later("F37", "the wait for the standby is cancelled", "a standby"),
  later("F38", "a cluster with automatic failover loses its leader", "Patroni"),
  later("F39", "connections lead to a server that was demoted", "a standby"),
  later("F41", "a backup is restored under live workers", "a standby"),
  later("F42", "everything goes through PgBouncer", "PgBouncer"),
  later("F49", "two versions work side by side", "two versions"),
  later("F50", "the schema is migrated under load", "two versions"),
  later("F53", "one tenant floods the queue", "fair shares of tenants"),
]
