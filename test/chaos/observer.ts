/** Looks at the database all the while, as a monitor would, and writes down what it sees. */
import { join } from "node:path"
import type { OperationName } from "../support/history/operations.ts"
import { REQUIRED_FIELDS } from "../support/history/operations.ts"
import { openRecorder } from "../support/history/record.mjs"
import type { World } from "./world.ts"

export interface Observer {
  readonly begin: () => void
  readonly end: () => Promise<void>
  /** Writes a line of its own, if the judge knows such a thing. */
  readonly record: (op: string, data: object) => void
}

const EVERY_MS = 250

export function createObserver(world: World): Observer {
  const recorder = openRecorder(join(world.folder, "history"), "observer")
  const ending = new AbortController()
  let watching: Promise<void> | undefined

  const record: Observer["record"] = (op, data) => {
    if (Object.hasOwn(REQUIRED_FIELDS, op)) recorder.record(op as OperationName, data as never)
  }

  async function look(): Promise<void> {
    const cursors = await world.talk.ask(
      `select name as schedule, version, (extract(epoch from cursor) * 1000000)::bigint as "cursorUs"
       from "${world.schema}".schedules`,
    )
    for (const { schedule, version, cursorUs } of cursors) {
      record("cursor", { schedule, version, cursorUs: Number(cursorUs) })
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
      recorder.close()
    },
    record,
  }
}
