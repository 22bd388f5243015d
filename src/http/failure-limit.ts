/** Counts wrong tokens by address, in bounded memory, and refuses addresses with too many. */
import { CarillonError } from "../errors.ts"
import type { Host } from "../runtime/host.ts"

export interface FailureLimit {
  /** Throws if too many failures came from this address. */
  readonly assertFew: (address: string | undefined) => void
  readonly add: (address: string | undefined) => void
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
    assertFew: (address) => {
      // Behind a server that does not tell addresses, one caller could lock out all others.
      if (address === undefined) return
      const window = windowOf(networkOf(address))
      if (window === undefined || window.failures < MOST_FAILURES) return
      throw new CarillonError(
        "TOKEN_FAILURES",
        "Too many wrong tokens came from this address. Wait a minute.",
      )
    },
    add: (address) => {
      if (address === undefined) return
      const key = networkOf(address)
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

/** One customer has a whole network of IPv6 addresses, and one IPv4 address in either form. */
function networkOf(address: string): string {
  const [, v4] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  return v4 ?? address.split(":").slice(0, 4).join(":")
}
