/** Requests that wait: `?wait=30s`, or the header `Prefer: wait=30`. */
import { z } from "@hono/zod-openapi"
import { parseDuration } from "../time/duration.ts"

/** Proxies cut longer requests. */
const LONGEST_MS = 60_000

export const waitQuery = {
  wait: z
    .string()
    .refine(
      (text) => (parseDuration(text) ?? LONGEST_MS + 1) <= LONGEST_MS,
      'expected a duration up to "60s"',
    )
    .openapi({ description: "How long to wait for the end of the run, at most 60s.", example: "30s" })
    .transform((text) => parseDuration(text) ?? 0)
    .optional(),
}

export const waitHeaders = z.strictObject({
  Prefer: z.string().optional().openapi({
    description: "`wait=30` waits like `wait`. `return=minimal` answers an enqueue with the id alone.",
    example: "wait=30",
  }),
})

export interface Waiting {
  readonly headers: Headers
  readonly query: { readonly wait?: number | undefined }
}

/** How long the caller will wait. A header asks for as much as it likes, and gets no more than there is. */
export function waitGiven({ query, headers }: Waiting): number {
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/.exec(headers.get("Prefer") ?? "") ?? []
  return query.wait ?? Math.min(LONGEST_MS, Number(seconds ?? 0) * 1_000)
}
