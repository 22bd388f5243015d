/** The route that reads what all schedules did and will do in a span of time. */
import { z } from "@hono/zod-openapi"
import type { Carillon } from "../api/carillon.ts"
import type { FireRecord, ScheduleRecord } from "../api/schedules/record.ts"
import { OptionsError } from "../errors.ts"
import { toDate } from "../time/instant.ts"
import { given, instant, instantGiven } from "./fields.ts"
import { ok, route } from "./route.ts"
import { fireRecord, scheduleState } from "./schedule-records.ts"

/** The most schedules of one answer, and the most entries of each. */
const MOST_SCHEDULES = 200
const MOST_ENTRIES = 1_000
/** Reads of this many schedules are under way at once. */
const AT_ONCE = 4
const LONGEST_MS = 35 * 86_400_000

export const calendarEntry = z
  .strictObject({
    name: z.string(),
    tenant: z.string().optional(),
    job: z.string(),
    state: scheduleState,
    fires: z.array(fireRecord).openapi({ description: "What became of past occurrences." }),
    planned: z.array(instant).openapi({ description: "When it is due next." }),
    capped: z.boolean().openapi({ description: "Whether there are more than were read." }),
  })
  .openapi("CalendarEntry")

export const calendarRoutes = [
  route({
    method: "get",
    path: "/calendar",
    scope: "read",
    summary: "Tells what all schedules did and will do from one time to another.",
    query: z.strictObject({ from: instantGiven, to: instantGiven }),
    answers: { 200: z.strictObject({ items: z.array(calendarEntry), capped: z.boolean() }) },
    handle: async ({ carillon, query: { from, to }, signal }) => {
      const length = to.getTime() - from.getTime()
      if (length <= 0 || length > LONGEST_MS) {
        throw new OptionsError("GET /calendar", [
          { path: "to", message: "expected a time after `from`, by 35 days at most" },
        ])
      }
      const { schedules, cursor } = await carillon.schedules.list({ limit: MOST_SCHEDULES, signal })
      const items = await inTurns(schedules, (schedule) => entryOf(carillon, schedule, { from, to, signal }))
      return ok({ items, capped: cursor !== undefined })
    },
  }),
]

interface Span {
  readonly from: Date
  readonly to: Date
  readonly signal: AbortSignal
}

async function entryOf(carillon: Carillon, schedule: ScheduleRecord, { from, to, signal }: Span) {
  const { name, tenant, job, state } = schedule
  const of = { ...given({ tenant }), limit: MOST_ENTRIES, signal }
  const hasNext = schedule.next !== undefined && schedule.next.due < to
  const ahead = hasNext
    ? await carillon.schedules.planned(name, { ...of, after: toDate(from.getTime() - 1) })
    : []
  const planned = ahead.map(({ due }) => due).filter((due) => due >= from && due < to)
  const past = from < schedule.createdAt && to < schedule.createdAt ? [] : await firesOf(carillon, name, of)
  const fires = past.filter(({ occurrence, last }) => last >= from && occurrence < to)
  const oldest = past.at(-1)
  const capped =
    ahead.length === MOST_ENTRIES ||
    (past.length === MOST_ENTRIES && oldest !== undefined && oldest.occurrence > from)
  return { name, ...given({ tenant }), job, state, fires, planned, capped }
}

async function firesOf(
  carillon: Carillon,
  name: string,
  of: { readonly tenant?: string; readonly limit: number; readonly signal: AbortSignal },
): Promise<readonly FireRecord[]> {
  const { fires } = await carillon.schedules.fires(name, of)
  return fires
}

/** The results in order, with a few reads under way at once. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))))
  }
  return results
}
