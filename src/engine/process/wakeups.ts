/**
 * Wakes loops, here and in other processes: runs are ready or waiting, schedules changed, a pause ended, settings
 * were overridden, a run was cancelled.
 *
 * Loops of this process are called at once. Other processes get a notification after the commit. Messages that come
 * while one is being sent go out together. A lost notification delays a run until a loop polls.
 */

import { createHash } from "node:crypto"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Listener } from "../../store/database.ts"
import { type WakeUp, wakeUpOf } from "../../store/statement.ts"
import { notify } from "../../store/wakeups/notify.ts"
import type { By } from "../by.ts"
import { laneKey, type ReadyLane } from "../queue/lane.ts"
import { formatMessage, parseMessage, type WakeupMessage } from "./wakeup-message.ts"

export interface Wakeups {
  /** Runs of this lane are ready, from this rank on. `isTold`: the insert itself has notified other processes. */
  readonly ready: (lane: ReadyLane, told?: { readonly isTold: boolean }) => void
  /**
   * The notification to send in one message with an insert, so that other processes hear of it at the commit.
   * `undefined` while another notification is being sent: the wake-up then goes out with the next.
   */
  readonly announcement: (lane: ReadyLane) => WakeUp | undefined
  /** A run waits that may be due before the promoter looks. */
  readonly waiting: () => void
  /** A schedule changed and may be due earlier than the scheduler knows. */
  readonly rescheduled: () => void
  /** A pause is over. Claims have passed runs because of it. */
  readonly resumed: () => void
  /** A bulk operation is to be carried on. */
  readonly bulk: () => void
  /** Settings of a job were overridden, or an override ended. */
  readonly overridden: () => void
  /** A newer run of the schedule replaces this one, which is running in some process. */
  readonly replaced: (run: string) => void
  /** A running run was cancelled. */
  readonly cancelled: (run: string, by: By) => void
  /** Listens for messages of other processes. */
  readonly listen: () => Promise<void>
  readonly close: () => void
}

export interface WakeupHandlers {
  /** Runs are ready. `undefined`: a wake-up may have been missed, in any lane. */
  readonly onReady: (lane: ReadyLane | undefined) => void
  readonly onWaiting: () => void
  readonly onRescheduled: () => void
  readonly onBulk: () => void
  readonly onOverridden: () => void
  /** This process has cancelled a run. */
  readonly onCancelled: (run: string, by: By) => void
  /** A message says that a run was cancelled. Any client can send such a message. */
  readonly onToldOfCancel: (run: string) => void
  /** Notifications of any kind may have been missed. */
  readonly onMissed: () => void
}

export interface WakeupParts {
  readonly runtime: Runtime
  /** Are notifications sent and heard? */
  readonly isOn: boolean
  readonly handlers: WakeupHandlers
}

export function createWakeups({ runtime, isOn, handlers }: WakeupParts): Wakeups {
  const { database } = runtime
  const channel = channelOf(database.schema)
  /** By subject, so that a thousand runs of one lane are one message. */
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
      // Every loop also polls, so a notification may fail.
      await database.run(notify, { channel, payload }).catch(() => {})
    }
    isSending = false
  }

  function hear(message: WakeupMessage): void {
    if (message.about === "ready") handlers.onReady(message.lane)
    else if (message.about === "waiting") handlers.onWaiting()
    else if (message.about === "schedules") handlers.onRescheduled()
    else if (message.about === "resumed") handlers.onReady(undefined)
    else if (message.about === "bulk") handlers.onBulk()
    else if (message.about === "overrides") handlers.onOverridden()
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
    bulk: () => {
      handlers.onBulk()
      tellOthers("bulk", { about: "bulk" })
    },
    overridden: () => {
      handlers.onOverridden()
      tellOthers("overrides", { about: "overrides" })
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
        // This process has heard its own messages already.
        if (lines[0] === self) return
        for (const line of lines) {
          const message = parseMessage(line)
          if (message) hear(message)
        }
        if (payload !== "") return
        handlers.onReady(undefined)
        handlers.onWaiting()
        handlers.onRescheduled()
        handlers.onBulk()
        handlers.onOverridden()
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

/** As many messages as fit, and at least one. */
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

/**
 * All schemas of a database share its channels, and a name has at most 63 bytes. So the channel has a hash of the
 * schema.
 */
function channelOf(schema: string): string {
  return `carillon_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`
}
