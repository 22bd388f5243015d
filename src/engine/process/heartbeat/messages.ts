/** What the main loop and the heartbeat's thread say to each other. */
import type { LeaseTimes, Renewal } from "./renewer.ts"

/** What the thread is given at its start. */
export interface ThreadSetup extends LeaseTimes {
  readonly address: string
  readonly schema: string
}

export type ToThread =
  /** Renew this lease from now on, and no other. */
  | { readonly kind: "hold"; readonly lease: string; readonly memory: SharedArrayBuffer }
  /** Renew nothing. */
  | { readonly kind: "drop" }
  | { readonly kind: "stop" }

export type FromThread =
  | Renewal
  /** The server that renewed it. */
  | { readonly kind: "server"; readonly lease: string; readonly server: string | null }
  /** It could not be renewed, for so many times in a row. */
  | {
      readonly kind: "failed"
      readonly message: string
      readonly failures: number
      readonly atMs: number
    }
