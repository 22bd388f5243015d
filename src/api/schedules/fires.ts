/** Reads the ledger of a schedule in pages, and computes its coming occurrences. */
import type { StoredSchedule } from "../../engine/schedules/change.ts"
import { undecidedOf } from "../../engine/schedules/decisions.ts"
import { notFound } from "../../engine/schedules/refusals.ts"
import { date, integer, optional, satisfies } from "../../options/check.ts"
import { comingOccurrences } from "../../schedule/coming.ts"
import { listFires } from "../../store/fires/list.ts"
import { findSchedule } from "../../store/schedules/find.ts"
import { type InstantMs, toDate } from "../../time/instant.ts"
import type { Opened } from "../application.ts"
import { LAST_INSTANT_MS } from "../runs/enqueue-options.ts"
import type { FireOptions, FirePage, PlannedFire, PlannedOptions } from "./fire-options.ts"
import { fireRecord } from "./record.ts"
import { assertNamed } from "./target.ts"

const LIMIT = 100
const MOST = 1_000
const MOST_GENERATIONS = 2_147_483_647

/**
 * Reads a page of the ledger, newest occurrence first. A page begins below the last row of the page before, so new rows
 * shift nothing: the pages together list every row that existed at the first page once.
 */
export async function scheduleFires(
  opened: Opened,
  name: string,
  options: FireOptions = {},
): Promise<FirePage> {
  assertNamed("schedules.fires", name, options, {
    limit: optional(integer({ min: 1, max: MOST })),
    cursor: optional(
      satisfies(
        "the cursor of an earlier page",
        (value) => typeof value === "string" && readCursor(value) !== undefined,
      ),
    ),
  })
  const { tenant, limit = LIMIT, cursor } = options
  const { id } = await find(opened, name, tenant)
  const below = (cursor === undefined ? undefined : readCursor(cursor)) ?? NEWEST
  // One more row shows whether there is another page.
  const rows = await opened.runtime.database.run(listFires, { schedule: id, ...below, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    fires: shown.map(fireRecord),
    ...(last && rows.length > limit && { cursor: writeCursor(last) }),
  }
}

export async function plannedFires(
  opened: Opened,
  name: string,
  options: PlannedOptions = {},
): Promise<readonly PlannedFire[]> {
  assertNamed("schedules.planned", name, options, {
    limit: optional(integer({ min: 1, max: MOST })),
    after: optional(date),
  })
  const { tenant, limit = LIMIT, after } = options
  const row = await find(opened, name, tenant)
  if ("afterCompletion" in (JSON.parse(row.spec) as object)) return onlyNext(row, after)
  const present = {
    now: Math.floor(row.now_ms),
    state: row.state,
    cursor: row.cursor,
    live: row.live,
    retrying: row.retrying,
    endedAt: row.ended_at,
    fired: Number(row.fired),
    pausedAt: row.paused_at,
    resumeAt: row.resume_at,
  }
  const planned = comingOccurrences(undecidedOf(row), present, { limit, after: after?.getTime() })
  return planned.map(({ occurrence, due }) => ({ occurrence: toDate(occurrence), due: toDate(due) }))
}

/** A schedule with `afterCompletion` knows at most one coming occurrence. The next follows from the end of its run. */
function onlyNext({ next_occurrence: next, next_at: due }: StoredSchedule, after?: Date): PlannedFire[] {
  if (next === null || due === null || (after && next <= after.getTime())) return []
  return [{ occurrence: toDate(next), due: toDate(due) }]
}

async function find({ runtime }: Opened, name: string, tenant = ""): Promise<StoredSchedule> {
  const [row] = await runtime.database.run(findSchedule, { tenant, name })
  if (!row) throw notFound(name)
  return row
}

/** A place in the ledger of one schedule. Each row has its own. */
interface Place {
  readonly at: InstantMs
  readonly generation: number
}

const NEWEST: Place = { at: LAST_INSTANT_MS - 1, generation: MOST_GENERATIONS }

/** Callers must not read a cursor: its content may change between versions. */
function writeCursor({
  occurrence,
  generation,
}: {
  readonly occurrence: InstantMs
  readonly generation: number
}): string {
  const json = JSON.stringify([occurrence, generation])
  return btoa(json).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/** The place that a cursor stands for. `undefined` for a text that is not a cursor. */
function readCursor(cursor: string): Place | undefined {
  const [at, generation, ...rest] = partsOf(cursor)
  const isPlace =
    isWithin(at, -LAST_INSTANT_MS, LAST_INSTANT_MS - 1) &&
    isWithin(generation, -MOST_GENERATIONS, MOST_GENERATIONS) &&
    rest.length === 0
  return isPlace ? { at, generation } : undefined
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")))
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
