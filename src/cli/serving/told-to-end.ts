/** The wish of a person or a supervisor that the process ends. */
import type { Host } from "../../runtime/host.ts"
import type { Terminal } from "../../runtime/terminal.ts"
import { EXIT_CODES } from "../exit-codes.ts"

/** One Ctrl-C arrives twice: from the terminal and from npm. */
const ONE_WISH_MS = 500

/** Aborts at the first signal. A second signal ends the process at once. */
export function untilToldToEnd(host: Host, terminal: Terminal): AbortSignal {
  const told = new AbortController()
  let toldAtMs: number | undefined
  terminal.onInterrupt(() => {
    const nowMs = host.monotonicMs()
    toldAtMs ??= nowMs
    told.abort()
    if (nowMs - toldAtMs <= ONE_WISH_MS) return
    terminal.printError("Ended at once. Runs that were executing are taken over when their lease is over.")
    host.exit(EXIT_CODES.failed)
  })
  return told.signal
}
