/** Every mutant there is. */
import { OF_LIMITS } from "./list/of-limits.ts"
import { OF_PROCESSES } from "./list/of-processes.ts"
import { OF_RUNS } from "./list/of-runs.ts"
import { OF_SCHEDULES } from "./list/of-schedules.ts"
import type { Mutant } from "./mutant.ts"

export const MUTANTS: readonly Mutant[] = [...OF_RUNS, ...OF_SCHEDULES, ...OF_LIMITS, ...OF_PROCESSES]
