/** All rows, by their numbers. */
import type { Fault, Story } from "../fault.ts"
import { calendar } from "./calendar.ts"
import { clocks } from "./clocks.ts"
import { disk } from "./disk.ts"
import { embedded } from "./embedded.ts"
import { handlers } from "./handlers.ts"
import { history } from "./history.ts"
import { loadRows } from "./load-rows.ts"
import { network } from "./network.ts"
import { laterRows } from "./not-run-yet.ts"
import { notifications } from "./notifications.ts"
import { payloads } from "./payloads.ts"
import { processes } from "./processes.ts"
import { racing } from "./races.ts"
import { readers } from "./readers.ts"
import { schedulers } from "./schedulers.ts"
import { server } from "./server.ts"
import { sessions } from "./sessions.ts"
import { leaving } from "./stops.ts"

const LAST = 57
const made: readonly (Fault | Story)[] = [
  ...processes,
  ...leaving,
  ...handlers,
  ...server,
  ...sessions,
  ...readers,
  ...notifications,
  ...network,
  ...disk,
  ...embedded,
  ...schedulers,
  ...clocks,
  ...calendar,
  ...loadRows,
  ...payloads,
  ...racing,
  ...history,
  ...laterRows,
]

/** Every number has a row, also where none is written yet. */
export const ROWS: readonly (Fault | Story)[] = Array.from({ length: LAST }, (_, index) => {
  const id = `F${index + 1}` as const
  return made.find((row) => row.id === id) ?? unwritten(id)
})

function unwritten(id: Story["id"]): Story {
  const needs = "an author"
  return { id, title: "", needs: () => needs, tell: () => Promise.reject(new Error(`${id} needs ${needs}`)) }
}
