/** The parts that requests and answers are made of, as zod schemas: they check, and they make the documentation. */
import { z } from "@hono/zod-openapi"
import { parseInstant, toDate } from "../time/instant.ts"

/** RFC 3339 in UTC with milliseconds, as every answer writes an instant. */
export const instant = z.iso
  .datetime({ precision: 3 })
  .openapi({ description: "RFC 3339 in UTC with milliseconds.", example: "2026-03-01T09:00:00.000Z" })

/** An instant of a request, with its offset. */
export const instantGiven = z
  .string()
  .refine((text) => parseInstant(text) !== undefined, "expected an instant like 2026-03-01T09:00:00Z")
  .openapi({ format: "date-time", description: "RFC 3339.", example: "2026-03-01T09:00:00Z" })
  .transform((text) => toDate(parseInstant(text) ?? 0))

/** A whole number in a query. */
export function wholeNumber(range: { readonly min: number; readonly max: number }) {
  const said = `expected a whole number from ${range.min} to ${range.max}`
  return z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= range.min && Number(text) <= range.max, said)
    .openapi({ type: "integer", minimum: range.min, maximum: range.max })
    .transform(Number)
}

/** A duration of a request. The library checks its range. */
export const duration = z
  .union([z.number(), z.string()])
  .openapi({ description: 'Milliseconds, or a text like "250ms", "30s", "5m", "1.5h", "7d".' })

/** Words of a query, joined by commas. */
export const wordList = z
  .string()
  .openapi({ description: "Several are joined by commas.", example: "mail,default" })
  .transform((text) => text.split(","))

const MOST = 1_000

/** The parameters of every list. */
export const pageQuery = {
  limit: wholeNumber({ min: 1, max: MOST }).optional(),
  cursor: z.string().optional().openapi({ description: "The `nextCursor` of the page before." }),
}

/** A page of records. */
export function pageOf(item: z.ZodType, more: Readonly<Record<string, z.ZodType>> = {}) {
  return z.strictObject({
    items: z.array(item),
    nextCursor: z.string().optional().openapi({ description: "Absent on the last page." }),
    ...more,
  })
}

/** Any JSON value. There is none for what is absent. */
export const json = z
  .unknown()
  .refine((value) => value !== undefined, "expected a JSON value")
  .openapi({ description: "Any JSON value." })

/** A number of things, of milliseconds or of bytes. */
export const whole = z.int().nonnegative()

/** The id of a run, of a worker or of an entry. */
export const id = z.string().openapi({ example: "0195a6c2-4a10-7c3e-9c64-3f1d2b5a7e90" })

/** A list of a request. Its length is checked first, so a list that is too long costs no check of its items. */
export function listOf<Item extends z.ZodType>(item: Item, most: number) {
  return z.array(item).max(most, `expected at most ${most} items`)
}

/** Drops what is undefined, because an option that is there has a value. */
export function given<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> }
}
