/** Looks at the database all the while, as a monitor would, and writes down what it sees. */
import { join } from "node:path"
import { openRecorder, type Recorder } from "../support/history/record.mjs"
import type { World } from "./world.ts"

export interface Observer {
  readonly begin: () => void
  readonly end: () => Promise<void>
  /** Writes a line of its own. */
  readonly record: Recorder["record"]
}

const EVERY_MS = 250

export function createObserver(world: World): Observer {
  const { record, close } = openRecorder(join(world.folder, "history"), "observer")
  const ending = new AbortController()
  let watching: Promise<void> | undefined

  async function look(): Promise<void> {
    const cursors = await world.talk.ask(
      `select name as schedule, version, (extract(epoch from cursor) * 1000000)::bigint as "cursorUs"
       from "${world.schema}".schedules`,
    )
    for (const { schedule, version, cursorUs } of cursors) {
      record("cursor", { schedule: String(schedule), version: Number(version), cursorUs: Number(cursorUs) })
    }
  }

  return {
    begin: () => {
      watching = (async () => {
        while (!ending.signal.aborted) {
          // A server that is away shows nothing.
          await look().catch(() => {})
          await world.rest(EVERY_MS, ending.signal)
        }
      })()
    },
    end: async () => {
      ending.abort()
      await watching
      close()
    },
    record,
  }
}
