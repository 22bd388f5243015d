/** The loop of the heartbeat's thread: renews the lease while the main loop gives signs of life. */
import type { Runtime } from "../../../runtime/runtime.ts"
import { createBell, type Loop } from "../../loop.ts"
import { type Board, type FromThread, openBoard, type ToThread } from "./board.ts"
import { judgePulse, pulseEveryMs } from "./policy.ts"
import { createRenewer, type LeaseTimes } from "./renewer.ts"

export interface Beat extends Loop {
  readonly hold: (lease: string, board: Board) => void
  /** Renews nothing until it gets another lease. */
  readonly drop: () => void
}

export interface BeatParts {
  readonly runtime: Runtime
  readonly times: LeaseTimes
  readonly tell: (message: FromThread) => void
}

export function createBeat({ runtime, times, tell }: BeatParts): Beat {
  const { leaseMs, renewEveryMs } = times
  const bell = createBell(runtime)
  const renewer = createRenewer(runtime, times)
  let held: { readonly lease: string; readonly board: Board } | undefined
  let isSilent = false

  async function tick(): Promise<number> {
    if (held === undefined) return leaseMs
    const { lease, board } = held
    const { atMs: pulseAtMs, maxBlockMs } = board.lastPulse()
    const nowMs = runtime.monotonicMs()
    if (judgePulse({ nowMs, pulseAtMs, maxBlockMs }) === "silence") {
      if (!isSilent) sayWhy(lease, nowMs - pulseAtMs)
      isSilent = true
      return pulseEveryMs(renewEveryMs)
    }
    isSilent = false
    const renewal = await renewer.renew(lease)
    if (renewal.kind === "renewed") board.renewed(renewal.sentAtMs)
    else {
      board.lost()
      if (held?.lease === lease) held = undefined
    }
    tell(renewal)
    if (renewal.kind === "lost") return leaseMs
    tell({ kind: "server", lease, server: await renewer.server() })
    return Math.max(0, renewal.sentAtMs + renewEveryMs - runtime.monotonicMs())
  }

  /** Printed from here, because the main loop, which usually reports, is blocked. */
  function sayWhy(lease: string, silentMs: number): void {
    runtime.print(
      "err",
      `carillon error: the event loop has given no sign for ${Math.round(silentMs / 1_000)} s; ` +
        `lease ${lease} is no longer renewed, and others will take its runs`,
    )
  }

  return {
    name: "heartbeat",
    bell,
    failureRestMs: renewEveryMs,
    tick,
    hold: (lease, board) => {
      held = { lease, board }
      bell.ring()
    },
    drop: () => {
      held = undefined
    },
  }
}

/** Obeys a message of the main loop. */
export function obey(beat: Beat, message: ToThread, stop: () => void): void {
  if (message.kind === "hold") beat.hold(message.lease, openBoard(message.memory))
  else if (message.kind === "drop") beat.drop()
  else stop()
}
