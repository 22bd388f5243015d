/** The calls that read statistics: how they are checked, and what they answer. */
import { OptionsError } from "../../errors.ts"
import { type DepthPoint, depths } from "../../operations/stats/depths.ts"
import { due, type StatsDue } from "../../operations/stats/due.ts"
import { now, type StatsNow } from "../../operations/stats/now.ts"
import { type StatsKind, type StatsPoint, series } from "../../operations/stats/series.ts"
import {
  array,
  assertOptions,
  type Check,
  either,
  object,
  oneOf,
  optional,
  satisfies,
} from "../../options/check.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { STEP_MS, type StatsStep } from "../../stats/step.ts"
import { type AttemptOutcome, OUTCOMES } from "../../stats/tally.ts"
import { readClock } from "../../store/clock/read.ts"
import { formatInstant, type InstantMs } from "../../time/instant.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import { instantCheck } from "../instant-check.ts"

/** What was and what is, as numbers. */
export interface Stats {
  /**
   * How attempts ended, step by step. Processes write every 10 seconds, so the last seconds are missing.
   *
   * @example
   * const points = await carillon.stats.series({ from, to, step: "hour", by: ["job", "outcome"] })
   */
  readonly series: (options?: SeriesOptions & CallOptions) => Promise<StatsPoint[]>
  /** What waited in pools, step by step: the highest values that were sampled. */
  readonly depths: (options?: DepthOptions & CallOptions) => Promise<DepthPoint[]>
  /** How every pool stands now. */
  readonly now: (options?: CallOptions) => Promise<StatsNow>
  /** How many runs of each job are due and wait for a slot. */
  readonly due: (options?: CallOptions) => Promise<StatsDue>
}

/** A span of time in steps. */
export interface StatsSpan {
  /**
   * Steps that begin at this time or later, or that it lies in.
   *
   * @default one hour before `to`
   */
  readonly from?: Date
  /**
   * Steps that begin before this time.
   *
   * @default now
   */
  readonly to?: Date
  /**
   * How long each step is, in UTC. Minutes are kept for 30 days, hours for a year. By tenant, minutes are kept for two
   * days and hours for 30.
   *
   * @default "minute"
   */
  readonly step?: StatsStep
}

/** Which statistics are asked for. */
export interface SeriesOptions extends StatsSpan {
  /** What the points are told apart by. Without it, each step has one point. */
  readonly by?: readonly StatsKind[]
  /** Which attempts count. Several values of a field are joined by or, the fields by and. */
  readonly where?: StatsWhere
}

/** Which attempts count. */
export interface StatsWhere {
  /** Attempts of these jobs. */
  readonly job?: string | readonly string[]
  /** Attempts in these pools. */
  readonly pool?: string | readonly string[]
  /** Attempts on behalf of these tenants. Tenants that are counted together are not found by name. */
  readonly tenant?: string | readonly string[]
  /** Attempts that ended like this. */
  readonly outcome?: AttemptOutcome | readonly AttemptOutcome[]
}

/** Which depths are asked for. */
export interface DepthOptions extends StatsSpan {
  /** Only of these pools. */
  readonly pool?: string | readonly string[]
}

const HOUR_MS = 3_600_000
/** The most points of one answer. */
const MOST_POINTS = 50_000

export const statsCalls = {
  series: async ({ runtime }: Opened, options: SeriesOptions = {}): Promise<StatsPoint[]> => {
    assertOptions("stats.series", options, seriesCheck)
    const { by = [], where = {} } = options
    const span = await spanOf(runtime, "stats.series", options)
    const kinds = Object.entries(where).flatMap(([kind, value]) =>
      value === undefined ? [] : [[kind, listOf(value)] as const],
    )
    const request = { ...span, by: new Set(by), where: Object.fromEntries(kinds), limit: MOST_POINTS + 1 }
    return assertFew("stats.series", await series(runtime, request))
  },

  depths: async ({ runtime }: Opened, options: DepthOptions = {}): Promise<DepthPoint[]> => {
    assertOptions("stats.depths", options, depthsCheck)
    const span = await spanOf(runtime, "stats.depths", options)
    const pools = options.pool === undefined ? undefined : listOf(options.pool)
    return assertFew("stats.depths", await depths(runtime, { ...span, pools, limit: MOST_POINTS + 1 }))
  },

  now: ({ runtime }: Opened): Promise<StatsNow> => now(runtime),

  due: ({ runtime }: Opened): Promise<StatsDue> => due(runtime),
}

const textCheck = satisfies("a text", (value) => typeof value === "string" && !value.includes("\0"))

/** One value or several. */
function oneOrMore(check: Check): Check {
  return either(
    [
      { is: Array.isArray, check: array(check) },
      { is: () => true, check },
    ],
    "a value or a list",
  )
}

const spanShape = {
  from: optional(instantCheck),
  to: optional(instantCheck),
  step: optional(oneOf(...Object.keys(STEP_MS))),
}

const seriesCheck = object({
  ...spanShape,
  by: optional(array(oneOf("job", "pool", "tenant", "outcome"))),
  where: optional(
    object({
      job: optional(oneOrMore(textCheck)),
      pool: optional(oneOrMore(textCheck)),
      tenant: optional(oneOrMore(textCheck)),
      outcome: optional(oneOrMore(oneOf(...OUTCOMES))),
    }),
  ),
})

const depthsCheck = object({ ...spanShape, pool: optional(oneOrMore(textCheck)) })

interface Span {
  readonly fromMs: InstantMs
  readonly toMs: InstantMs
  readonly step: StatsStep
}

async function spanOf({ database }: Runtime, call: string, options: StatsSpan): Promise<Span> {
  const { from, to, step = "minute" } = options
  const toMs = to?.getTime() ?? (await database.run(readClock, {}))[0]?.at ?? 0
  const fromMs = from?.getTime() ?? toMs - HOUR_MS
  const message = `expected a time before \`to\`, which is ${formatInstant(toMs)}`
  if (fromMs >= toMs) throw new OptionsError(call, [{ path: "from", message }])
  return { fromMs, toMs, step }
}

function assertFew<Point>(call: string, points: Point[]): Point[] {
  if (points.length <= MOST_POINTS) return points
  const message = `the answer has more than ${MOST_POINTS} points; ask for longer steps, a shorter span or fewer kinds`
  throw new OptionsError(call, [{ path: "(options)", message }])
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === "string" ? [value] : value
}
