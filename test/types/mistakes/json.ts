// What JSON makes of inputs and results, and where the compiler says so.

import { z } from "zod"
import { defineJob } from "../../../src/index.ts"

export const date = defineJob({
  name: "date",
  input: z.object({ at: z.date() }),
  // ^ `at` is different after JSON (a Date becomes a string): the schema must accept the value after JSON
  run: (input) => input.at.getTime(),
})

export const list = defineJob({
  name: "list",
  input: z.object({ days: z.array(z.object({ at: z.date() })) }),
  // ^ `days` is different after JSON
  run: (input) => input.days.length,
})

export const map = defineJob({
  name: "map",
  input: z.map(z.string(), z.number()),
  // ^ it is different after JSON
  run: (input) => input.size,
})

export const annotated = defineJob({
  name: "annotated",
  run: (input: { at: Date }) => input.at.getTime(),
  // ^ `at` is different after JSON (a Date becomes a string): the handler must accept the value after JSON
})

export const counted = defineJob({
  name: "counted",
  run: async () => ({ rows: 1n }),
  // ^ `rows` cannot be stored as JSON
})

export const grouped = defineJob({
  name: "grouped",
  input: z.object({ to: z.string() }),
  run: async (input) => new Map([[input.to, 1]]),
  // ^ it cannot be stored as JSON
})
