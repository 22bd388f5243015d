/** Keeps the house in order: history has a partition for every coming day. */
import type { Runtime } from "../runtime/runtime.ts"
import { makePartitions } from "../store/attempts/partitions.ts"
import { createBell, type Loop } from "./loop.ts"

const EVERY_MS = 3_600_000

export function createUpkeep(runtime: Runtime): Loop {
  return {
    name: "upkeep",
    bell: createBell(runtime),
    tick: async () => {
      await makePartitions(runtime.database)
      return EVERY_MS
    },
  }
}
