/**
 * Tells loops, here and in other processes, what has become ready for them, which runs wait, that schedules have changed,
 * that a pause is over, and whose run was cancelled.
 *
 * Here at once; elsewhere by a notification after the commit, many in one: what comes while one is being sent
 * goes out with the next. A notification that is lost delays a run until somebody looks by itself.
 */

import { createHash } from "node:crypto"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Listener } from "../../store/database.ts"
import { type WakeUp, wakeUpOf } from "../../store/statement.ts"
import { notify } from "../../store/wakeups/notify.ts"
import type { CancelledBy } from "../attempts/abort-reasons.ts"
import { laneKey, type ReadyLane } from "../queue/lane.ts"
import { formatMessage, parseMessage, type WakeupMessage } from "./wakeup-message.ts"

export interface Wakeups {
  /** Runs of this lane are ready, from this rank on. Others need not be told if that was sent behind their insert. */
  readonly ready: (lane: ReadyLane, told?: { readonly isTold: boolean }) => void
  /**
   * What to send behind an insert of runs, so that others hear of them as soon as it is committed. Nothing while they are
   * being told of something else: what comes meanwhile goes out together.
   */
  readonly announcement: (lane: ReadyLane) => WakeUp | undefined
  /** A run waits that may be due before anyone looks. */
  readonly waiting: () => void
  /** Schedules were changed: one may be due before anyone looks, or earlier than others that are known of. */
  readonly rescheduled: () => void
  /** A pause is over: what claims have passed because of it is there for them. */
  readonly resumed: () => void
  /** Another run takes the place of this one, which is running somewhere. */
  readonly replaced: (run: string) => void
  /** A running run was cancelled. */
  readonly cancelled: (run: string, by: CancelledBy) => void
  /** Hears what others say. */
  readonly listen: () => Promise<void>
  readonly close: () => void
}

export interface WakeupHandlers {
  /** Runs are ready; `undefined`: something may have been missed, anywhere. */
  readonly onReady: (lane: ReadyLane | undefined) => void
  readonly onWaiting: () => void
  readonly onRescheduled: () => void
  /** This process has cancelled a run. */
  readonly onCancelled: (run: string, by: CancelledBy) => void
  /** Somebody says that they have: anybody can. */
  readonly onToldOfCancel: (run: string) => void
  /** Notifications may have been missed: whatever they would have said. */
  readonly onMissed: () => void
}

export interface WakeupParts {
  readonly runtime: Runtime
  /** Whether others are told, and listened to. */
  readonly isOn: boolean
  readonly handlers: WakeupHandlers
}

export function createWakeups({ runtime, isOn, handlers }: WakeupParts): Wakeups {
  const { database } = runtime
  const channel = channelOf(database.schema)
  /** By what each is about, so that a thousand runs of one lane are one message. */
  const unsent = new Map<string, WakeupMessage>()
  const isHeard = isOn && database.abilities.processes
  const self = `from ${runtime.newId()}`
  let isSending = false
  let listener: Listener | undefined
  let closed = false

  function tellOthers(about: string, message: WakeupMessage): void {
    if (closed || !isHeard) return
    unsent.set(about, message)
    if (!isSending) void send()
  }

  async function send(): Promise<void> {
    isSending = true
    while (unsent.size > 0) {
      const payload = `${self}\n${takePayload(unsent)}`
      // Polling is the truth: what cannot be sent is found by looking.
      await database.run(notify, { channel, payload }).catch(() => {})
    }
    isSending = false
  }

  function hear(message: WakeupMessage): void {
    if (message.about === "ready") handlers.onReady(message.lane)
    else if (message.about === "waiting") handlers.onWaiting()
    else if (message.about === "schedules") handlers.onRescheduled()
    else if (message.about === "resumed") handlers.onReady(undefined)
    else handlers.onToldOfCancel(message.run)
  }

  return {
    ready: (lane, { isTold } = { isTold: false }) => {
      handlers.onReady(lane)
      if (isTold) return
      const about = `${laneKey(lane)} ${lane.pool}`
      const earlier = unsent.get(about)
      const lowest = earlier?.about === "ready" && earlier.lane.rank < lane.rank ? earlier.lane : lane
      tellOthers(about, { about: "ready", lane: lowest })
    },
    announcement: (lane) => {
      if (closed || !isHeard || isSending) return undefined
      const payload = `${self}\n${formatMessage({ about: "ready", lane })}`
      return wakeUpOf(notify, { channel, payload })
    },
    waiting: () => {
      handlers.onWaiting()
      tellOthers("waiting", { about: "waiting" })
    },
    rescheduled: () => {
      handlers.onRescheduled()
      tellOthers("schedules", { about: "schedules" })
    },
    resumed: () => {
      handlers.onReady(undefined)
      tellOthers("resumed", { about: "resumed" })
    },
    replaced: (run) => {
      handlers.onToldOfCancel(run)
      tellOthers(run, { about: "cancelled", run })
    },
    cancelled: (run, by) => {
      handlers.onCancelled(run, by)
      tellOthers(run, { about: "cancelled", run })
    },
    listen: async () => {
      if (!isHeard) return
      listener = await database.listen(channel, (payload) => {
        const lines = payload.split("\n")
        // What we say ourselves has been heard here already.
        if (lines[0] === self) return
        for (const line of lines) {
          const message = parseMessage(line)
          if (message) hear(message)
        }
        if (payload !== "") return
        handlers.onReady(undefined)
        handlers.onWaiting()
        handlers.onRescheduled()
        handlers.onMissed()
      })
    },
    close: () => {
      closed = true
      unsent.clear()
      void listener?.close()
    },
  }
}

/** PostgreSQL takes fewer than 8,000 bytes. */
const MOST_BYTES = 7_000

/** As many messages as fit, at least one. */
function takePayload(unsent: Map<string, WakeupMessage>): string {
  const lines: string[] = []
  let bytes = 0
  for (const [about, message] of unsent) {
    const line = formatMessage(message)
    bytes += 4 * line.length + 1
    if (lines.length > 0 && bytes > MOST_BYTES) break
    lines.push(line)
    unsent.delete(about)
  }
  return lines.join("\n")
}

/** Channels are shared by the whole database and at most 63 bytes long, so a schema's is named by its hash. */
function channelOf(schema: string): string {
  return `carillon_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`
}
