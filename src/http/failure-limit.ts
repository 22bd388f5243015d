/** Counts wrong tokens by client, in bounded memory, and refuses clients with too many. */
import { CarillonError } from "../errors.ts"
import type { Host } from "../runtime/host.ts"

export interface FailureLimit {
  /** Throws if too many failures came from this address. */
  readonly assertFew: (client: string | undefined) => void
  readonly add: (client: string | undefined) => void
}

const MOST_FAILURES = 20
const WINDOW_MS = 60_000
const MOST_ADDRESSES = 10_000

export function createFailureLimit({ monotonicMs }: Pick<Host, "monotonicMs">): FailureLimit {
  /** In the order in which their windows began. */
  const windows = new Map<string, { readonly untilMs: number; failures: number }>()

  function windowOf(key: string) {
    const found = windows.get(key)
    if (found === undefined || monotonicMs() < found.untilMs) return found
    windows.delete(key)
    return undefined
  }

  return {
    assertFew: (client) => {
      // Behind a server that does not tell addresses, one caller could lock out all others.
      if (client === undefined) return
      const window = windowOf(networkOf(client))
      if (window === undefined || window.failures < MOST_FAILURES) return
      throw new CarillonError(
        "TOKEN_FAILURES",
        "Too many wrong tokens came from this address. Wait a minute.",
      )
    },
    add: (client) => {
      if (client === undefined) return
      const key = networkOf(client)
      const window = windowOf(key)
      if (window) {
        window.failures += 1
        return
      }
      const [oldest] = windows.keys()
      if (windows.size >= MOST_ADDRESSES && oldest !== undefined) windows.delete(oldest)
      windows.set(key, { untilMs: monotonicMs() + WINDOW_MS, failures: 1 })
    },
  }
}

/** The networks of the addresses of a client. */
function networkOf(client: string): string {
  return client
    .split(" ")
    .map((address) => networkAt(address))
    .join(" ")
}

/** One customer has a whole network of IPv6 addresses, and one IPv4 address in either form. */
function networkAt(address: string): string {
  const [, v4] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  return v4 ?? address.split(":").slice(0, 4).join(":")
}
