/** What the compiler knows about the public API. `tsc` is the test runner here: nothing in this file is executed. */
import { z } from "zod"
import {
  type AttemptRecord,
  Cancel,
  CarillonError,
  createCarillon,
  defineJob,
  defineSchedule,
  type ErrorCode,
  type Job,
  type JobContext,
  type RunHandle,
  type StandardSchema,
  type Verdict,
} from "../../src/index.ts"
import type { OutputOf } from "../../src/job/standard-schema.ts"
import { createTestKit } from "../../src/testing/index.ts"

/** Compiles only when both types are the same, in both directions and in every detail. */
function same<A, B>(
  ..._proof: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : ["types differ", A, B]
): void {}

// A schema that transforms its input: callers give a text, the handler gets a Date.
const remind = defineJob({
  name: "remind",
  input: z.object({
    to: z.string(),
    at: z.string().transform((text) => new Date(text)),
    tries: z.number().default(1),
  }),
  pool: "mail",
  retry: { attempts: 3, base: "10s" },
  run: (input, ctx) => {
    same<typeof input, { to: string; at: Date; tries: number }>()
    same<typeof ctx, JobContext>()
    return { sentTo: input.to }
  },
})

// A schema by hand: no library is needed.
declare const celsius: StandardSchema<{ degrees: string }, { degrees: number }>
const measure = defineJob({
  name: "measure",
  input: celsius,
  run: async (input) => {
    same<typeof input, { degrees: number }>()
    return input.degrees
  },
})

// Without a schema the handler declares its input.
const greet = defineJob({ name: "greet", run: (input: { name: string }) => `Hello ${input.name}` })
const sweep = defineJob({ name: "sweep", run: () => {} })
const maybe = defineJob({
  name: "maybe",
  run: (input: { deep: boolean } | undefined) => input?.deep ?? false,
})

export async function enqueueing(): Promise<void> {
  // Any job fits into the list, whatever its input and result.
  const carillon = createCarillon({ jobs: [remind, measure, greet, sweep, maybe], lease: "60s" })

  const reminded = await carillon.enqueue(remind, { to: "ada", at: "2026-03-01T09:00Z" }, { delay: "5m" })
  same<typeof reminded, RunHandle<{ sentTo: string }>>()
  same<Awaited<ReturnType<typeof reminded.result>>, { sentTo: string }>()

  const measured = await (await carillon.enqueue(measure, { degrees: "21" })).result()
  same<typeof measured, number>()

  const greeting = await (await carillon.enqueue(greet, { name: "ada" }, { priority: 5 })).result()
  same<typeof greeting, string>()

  // A job that takes nothing is enqueued with nothing, or with options after an empty input.
  const swept = await (await carillon.enqueue(sweep)).result()
  same<typeof swept, void>()
  await carillon.enqueue(sweep, undefined, { delay: 1_000 })
  await carillon.enqueue(maybe)
  await carillon.enqueue(maybe, { deep: true })

  // @ts-expect-error the input is missing
  await carillon.enqueue(remind)
  // @ts-expect-error a field is missing
  await carillon.enqueue(remind, { to: "ada" })
  // @ts-expect-error callers give what the schema takes, not what it makes of it
  await carillon.enqueue(remind, { to: "ada", at: new Date(0) })
  // @ts-expect-error an unknown field
  await carillon.enqueue(greet, { name: "ada", nmae: "ada" })
  // @ts-expect-error a field of the wrong type
  await carillon.enqueue(measure, { degrees: 21 })
  // @ts-expect-error an input for a job that takes none
  await carillon.enqueue(sweep, { deep: true })
  // @ts-expect-error an unknown option
  await carillon.enqueue(sweep, undefined, { dealy: "5m" })
  // A duration may come from elsewhere; it is checked when the call is made.
  const fromElsewhere: string = process.env["DELAY"] ?? "5m"
  await carillon.enqueue(sweep, undefined, { delay: fromElsewhere })
  // @ts-expect-error a duration is no bigint
  await carillon.enqueue(sweep, undefined, { delay: 5n })
  // @ts-expect-error a job has to be defined
  await carillon.enqueue({ name: "sweep" })

  same<Awaited<ReturnType<typeof carillon.runs.attempts>>, AttemptRecord[]>()
}

export function defining(): void {
  // @ts-expect-error a job has a name
  defineJob({ run: () => {} })
  // @ts-expect-error a job has a handler
  defineJob({ name: "idle" })
  // @ts-expect-error an unknown option
  defineJob({ name: "sweep", timout: "5m", run: () => {} })
  // @ts-expect-error a duration is a number or a text with a unit
  defineJob({ name: "sweep", timeout: { minutes: 5 }, run: () => {} })
  // @ts-expect-error the handler takes something else than the schema gives
  defineJob({ name: "sweep", input: celsius, run: (input: { degrees: string }) => input.degrees })
  // @ts-expect-error an unknown option
  createCarillon({ databse: "memory" })
  // @ts-expect-error not a job
  createCarillon({ jobs: [{ name: "sweep" }] })
  // @ts-expect-error slots are numbers
  createCarillon({ pools: { mail: "10" } })
}

export async function testing(): Promise<void> {
  await using kit = await createTestKit()
  await using app = await kit.app({ jobs: [greet], at: "2026-03-01T09:00Z" })
  const run = await app.enqueue(greet, { name: "ada" })
  same<Awaited<ReturnType<typeof run.result>>, string>()

  const finished = await app.until("attempt.finished", ({ job }) => job === "greet")
  same<typeof finished.durationMs, number>()
  // @ts-expect-error no such event
  await app.until("attempt.vanished")
  // @ts-expect-error no such place
  app.crashAt("nowhere")
  // @ts-expect-error the kit chooses the database
  await kit.app({ database: "memory" })
}

/** Error handling by codes that the compiler knows. */
export function judging(error: unknown): string {
  if (!(error instanceof CarillonError)) return "unknown"
  same<typeof error.code, ErrorCode>()
  same<typeof error.retryable, boolean>()
  // @ts-expect-error no such code
  if (error.code === "RUN_LOST") return "lost"
  return error.code === "RUN_NOT_FOUND" ? "gone" : error.code
}

export function declaringSchedules(): void {
  createCarillon({
    schedules: [
      defineSchedule({
        name: "a",
        job: remind,
        cron: "@daily",
        input: { to: "ada", at: "2026-03-01T09:00Z" },
      }),
      defineSchedule({ name: "b", job: greet, every: "1h", input: { name: "ada" } }),
      defineSchedule({ name: "c", job: sweep, at: "2026-03-01T09:00Z" }),
      defineSchedule({ name: "d", job: maybe, every: { days: 1, at: "09:00" } }),
    ],
    removedSchedules: "delete",
    application: "shop",
  })
  // @ts-expect-error the input is missing
  defineSchedule({ name: "a", job: greet, cron: "@daily" })
  // @ts-expect-error the input is that of another job
  defineSchedule({ name: "b", job: greet, cron: "@daily", input: { to: "ada" } })
  // @ts-expect-error it does not say when
  defineSchedule({ name: "c", job: sweep })
  // @ts-expect-error the input was not checked against its job
  createCarillon({ schedules: [{ name: "d", job: greet, every: "1h", input: 1 }] })
}

class Money {
  readonly cents: number
  constructor(cents: number) {
    this.cents = cents
  }
  plus(other: Money): Money {
    return new Money(this.cents + other.cents)
  }
}

interface Tree {
  readonly name: string
  readonly children: readonly Tree[]
}

/** The type of `result()` is what JSON makes of the handler's return value. */
export async function results(): Promise<void> {
  const carillon = createCarillon()
  const resultOf = async <Output>(job: Job<undefined, Output>) => (await carillon.enqueue(job)).result()

  const dated = await resultOf(
    defineJob({ name: "a", run: async () => ({ at: new Date(0), by: "ada" as const }) }),
  )
  same<typeof dated, { at: string; by: "ada" }>()
  const bare = await resultOf(defineJob({ name: "b", run: () => new Date(0) }))
  same<typeof bare, string>()
  const nested = await resultOf(defineJob({ name: "c", run: () => [{ days: [new Date(0)] as const }] }))
  same<typeof nested, { days: readonly [string] }[]>()
  const absent = await resultOf(defineJob({ name: "d", run: (): string | undefined => undefined }))
  same<typeof absent, string | null>()
  const money = await resultOf(defineJob({ name: "e", run: () => new Money(1) }))
  same<typeof money, { readonly cents: number }>()
  const tree = await resultOf(defineJob({ name: "f", run: (): Tree => ({ name: "root", children: [] }) }))
  same<typeof tree, Tree>()
  const record = await resultOf(defineJob({ name: "g", run: (): Record<string, Date | null> => ({}) }))
  same<typeof record, Record<string, string | null>>()
  const anything = await resultOf(defineJob({ name: "h", run: (): unknown => 1 }))
  same<typeof anything, unknown>()
  const url = await resultOf(defineJob({ name: "i", run: () => ({ to: new URL("https://example.com") }) }))
  same<typeof url, { to: string }>()
  const optional = await resultOf(defineJob({ name: "j", run: (): { at?: Date } => ({}) }))
  same<typeof optional, { at?: string }>()
  const judged = await resultOf(defineJob({ name: "k", run: (): Verdict | number => Cancel("gone") }))
  same<typeof judged, number>()
}

/** A schema takes what comes out of JSON; what it makes of that is its own affair. */
export async function datesAsInput(): Promise<void> {
  const coerced = defineJob({
    name: "coerced",
    input: z.object({ at: z.coerce.date() }),
    run: (input) => same<typeof input, { at: Date }>(),
  })
  const decoded = defineJob({
    name: "decoded",
    input: z.object({
      at: z.codec(z.iso.datetime(), z.date(), {
        decode: (text) => new Date(text),
        encode: (at) => at.toISOString(),
      }),
    }),
    run: (input) => same<typeof input, { at: Date }>(),
  })
  const either = defineJob({
    name: "either",
    input: z.object({ at: z.union([z.date(), z.string()]) }),
    run: (input) => same<typeof input, { at: Date | string }>(),
  })
  const carillon = createCarillon({ jobs: [coerced, decoded, either] })
  await carillon.enqueue(coerced, { at: new Date(0) })
  await carillon.enqueue(decoded, { at: "2026-03-01T09:00:00Z" })
  await carillon.enqueue(either, { at: new Date(0) })
}

/** Functions that define jobs may leave their types open. */
export function genericJobs(): void {
  const audited = <In, Out>(name: string, run: (input: In) => Promise<Out>) => defineJob({ name, run })
  const described = <Schema extends StandardSchema>(input: Schema, run: (input: OutputOf<Schema>) => void) =>
    defineJob({ name: "described", input, run: (value) => run(value) })
  same<typeof open, Job<{ id: number }, { at: string }>>()
  const open = audited("open", async (input: { id: number }) => ({ at: new Date(input.id) }))
  createCarillon({ jobs: [open, described(celsius, () => {})] })
}
