// Each caret stands under the word that the compiler complains about, and says with which words.

import { z } from "zod"
import { createCarillon, defineJob, defineSchedule, previewSchedule } from "../../../src/index.ts"

const who = z.object({ name: z.string() })

export const a = defineJob({
  name: "a",
  input: who,
  retries: 3,
  // ^ Type 'number' is not assignable to type 'Mistake<"use retry: { attempts }">'
  run: (input) => input.name.length,
})

export const b = defineJob({
  name: "b",
  attempts: 3,
  // ^ Mistake<"use retry: { attempts }">
  run: (input: { name: string }) => input.name.length,
})

export const c = defineJob({
  name: "c",
  input: who,
  backoff: "10s",
  // ^ Mistake<"use retry: { base, factor, cap }">
  run: (input) => input.name.length,
})

export const d = defineJob({
  name: "d",
  input: who,
  retry: { retries: 3, backoff: "10s" },
  //       ^ Mistake<"use attempts">
  //                   ^ Mistake<"use base, with factor and cap">
  run: (input) => input.name.length,
})

export const e = defineJob({
  name: "e",
  input: who,
  timout: "30s",
  // ^ Did you mean to write 'timeout'?
  run: (input) => input.name.length,
})

export const f = defineJob({
  name: "f",
  input: who,
  timeout: true,
  // ^ Type 'true' is not assignable to type 'Duration'
  run: (input) => input.name.length,
})

export const g = defineJob({
  name: "g",
  input: who,
  run: (input) => input.nmae,
  //                    ^ Property 'nmae' does not exist on type '{ name: string; }'
})

export const h = defineJob({
  name: "h",
  input: who,
  run: (input: { name: number }) => input.name,
  // ^ Type 'string' is not assignable to type 'number'
})

export const i = defineJob({
  name: "i",
  input: { name: "string" },
  //       ^ does not exist in type 'StandardSchema
  run: () => 1,
})

export const j = defineJob({ name: "j", input: who })
//                         ^ Property 'run' is missing

const greet = defineJob({ name: "greet", input: who, run: (input) => input.name })

defineSchedule({ name: "k", job: greet, input: { name: "ada" }, cron: "@daily", tz: "Europe/Oslo" })
//                                                                              ^ Mistake<"use timeZone">

defineSchedule({ name: "l", job: greet, input: { nmae: "ada" }, cron: "@daily" })
//                                               ^ 'nmae' does not exist

const carillon = createCarillon({ jobs: [greet] })
void carillon.schedules.put({ name: "m", job: greet, input: { name: "ada" }, every: "1h", tz: "UTC" })
//                                                                                        ^ Mistake<"use timeZone">
void carillon.enqueue(greet, { name: 1 })
//                             ^ Type 'number' is not assignable to type 'string'
previewSchedule({ cron: "@daily", tz: "UTC" })
//                                ^ Mistake<"use timeZone">
