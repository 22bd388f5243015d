/**
 * An SQL statement with a name, typed parameters and typed rows.
 *
 * `@name` stands for a parameter, `@name.columns` and `@name.field` for a list of objects, `{name}` for a table of
 * Carillon's schema, and `{now}` for its clock. Parameters are checked against the declaration when the module loads,
 * and columns against the answer of the server. The first test finds a typing error.
 */
import type { Codec, Rows } from "./codec.ts"
import {
  borrowing,
  givingBack,
  LIMITS,
  limitsOf,
  OURS,
  openingSettings,
  type Settings,
  settingLocally,
  UNHURRIED,
} from "./session.ts"

export interface Statement<Params, Row> {
  /** The path of its file below src/store, as in `runs/claim`. */
  readonly name: string
  readonly plan: Plan
  /** It changes nothing and locks nothing, so it can always be sent again. */
  readonly reads: boolean
  /** The names of the columns that it returns, in order. */
  readonly columns: readonly string[]
  /** The SQL for one schema, with `$1` for parameters, each cast to its declared type. */
  readonly text: (schema: string) => string
  readonly bind: (params: Params) => (string | null)[]
  readonly read: (columns: readonly string[], rows: readonly (readonly (string | null)[])[]) => Row[]
}

/** A statement with its parameters, whose answer is ignored. */
export interface WakeUp {
  readonly name: string
  readonly text: (schema: string) => string
  readonly values: readonly (string | null)[]
}

export function wakeUpOf<P, R>({ name, text, bind }: Statement<P, R>, params: P): WakeUp {
  return { name, text, values: bind(params) }
}

/**
 * How PostgreSQL plans a statement.
 *
 * - `"index"`: without sequential scans, bitmaps and sorts. For tables that are empty now and hold a million rows
 *   later: a plan made for the empty table would be far too slow then.
 * - `"hashed"`: the same without nested loops. For joins with a parameter that is a list of unknown length.
 * - `"alone"`: a command that PostgreSQL refuses inside a transaction. It is sent without one.
 */
export type Plan = FixedPlan | "free" | "alone"

/** A plan that all statements of a connection can share. */
export type FixedPlan = "index" | "hashed"

/** PostgreSQL chooses among all scans and joins, except those that a plan rules out. */
const CHOICE = {
  enable_indexscan: "on",
  enable_indexonlyscan: "on",
  enable_tidscan: "on",
  enable_hashjoin: "on",
  enable_mergejoin: "on",
  enable_hashagg: "on",
  enable_material: "on",
  enable_memoize: "on",
} as const satisfies Settings

/**
 * The settings that make a plan.
 *
 * Planned once, for any values. By default PostgreSQL plans a look-up in a hundred partitions anew each time, which
 * takes 5 ms; the look-up itself takes half a millisecond.
 */
const PLANS = {
  index: {
    ...CHOICE,
    enable_seqscan: "off",
    enable_bitmapscan: "off",
    enable_sort: "off",
    enable_nestloop: "on",
    plan_cache_mode: "force_generic_plan",
  },
  hashed: {
    ...CHOICE,
    enable_seqscan: "off",
    enable_bitmapscan: "off",
    enable_sort: "off",
    enable_nestloop: "off",
    plan_cache_mode: "force_generic_plan",
  },
} as const satisfies Record<FixedPlan, Settings>

/** Sets a plan for the rest of a transaction, on a connection that runs only our statements but has another plan. */
export const PLANNED = { index: settingLocally(PLANS.index), hashed: settingLocally(PLANS.hashed) } as const

/** Sets a plan for good, on a connection of our own: setting it costs as much as a short statement. */
export function openingFor(plan: FixedPlan | undefined, versionNumber: number): string {
  return openingSettings(versionNumber, plan && PLANS[plan])
}

/** Sets everything that a statement depends on, in a transaction on a session of unknown state: behind a pooler. */
export function unsetOn(versionNumber: number): Readonly<Record<FixedPlan | "free", string>> {
  return versionNumber < NEWER ? UNSET.older : UNSET.newer
}

const NEWER = 170_000
const UNSET = { older: unsetWith(limitsOf(0)), newer: unsetWith(limitsOf(NEWER)) } as const

function unsetWith(limits: Settings): Record<FixedPlan | "free", string> {
  const all = { ...limits, ...OURS }
  return {
    free: UNHURRIED + settingLocally(all),
    index: UNHURRIED + settingLocally({ ...all, ...PLANS.index }),
    hashed: UNHURRIED + settingLocally({ ...all, ...PLANS.hashed }),
  }
}

/** What our statements borrow among those of a handler. The handler decides how long its transaction may take. */
const BORROWED = { statement_timeout: LIMITS.statement_timeout, ...OURS } as const

/** Sets the same among the statements of a handler, and gives everything back. */
export const AMONG_OTHERS = {
  index: borrowing({ ...BORROWED, ...PLANS.index }),
  hashed: borrowing({ ...BORROWED, ...PLANS.hashed }),
  giveBack: givingBack({ ...BORROWED, ...PLANS.index }),
  asDefault: Object.keys({ ...BORROWED, ...PLANS.index })
    .map((name) => `set local ${name} to default`)
    .join("; "),
} as const

/** Any codec, seen from outside. Only its owner knows the type of its values. */
interface SomeCodec {
  readonly sqlType: string
  readonly encode: (value: never) => string | null
  readonly decode: (text: string | null) => unknown
}
type Codecs = Readonly<Record<string, SomeCodec>>
type Params = Readonly<Record<string, SomeCodec | Rows<never>>>
type Decoded<C> = {
  -readonly [K in keyof C]: C[K] extends Codec<infer T>
    ? T
    : C[K] extends Rows<infer T>
      ? readonly T[]
      : never
}

/** A statement whose parameters and rows have the types of its codecs. */
export function statement<P extends Params, R extends Codecs>(definition: {
  readonly name: string
  readonly params: P
  readonly returns: R
  readonly plan?: Plan
  readonly sql: string
}): Statement<Decoded<P>, Decoded<R>> {
  const { name, params, returns, plan = "free", sql } = definition
  checkParameters(name, sql, Object.keys(params))
  const slots = slotsOf(params)
  const placed = place(name, sql, params, slots)
  const columns = Object.keys(returns)
  const columnCodecs = Object.values(returns)
  if (columnCodecs.some(({ sqlType }) => sqlType === "float8")) {
    throw new TypeError(`${name} returns a float8, of which a session may leave digits out: return an int8`)
  }
  return {
    name,
    plan,
    reads: !WRITES.test(sql),
    columns,
    text: (schema) => resolveNames(placed, schema),
    bind: (values) => slots.map(({ parameter, encode }) => encode(values[parameter as keyof P] as never)),
    read: (returned, rows) => {
      if (returned.join() !== columns.join()) {
        throw new TypeError(`${name} returns (${returned}), but declares (${columns})`)
      }
      return rows.map((row) => {
        const decoded: Record<string, unknown> = {}
        for (let index = 0; index < columns.length; index += 1) {
          decoded[columns[index] as string] = columnCodecs[index]?.decode(row[index] ?? null)
        }
        return decoded as Decoded<R>
      })
    },
  }
}

/** A statement needs one of these to change or lock something, notify, move a cursor or end a session. */
const WRITING_WORDS = [
  ...["insert", "update", "delete", "merge", "into", "truncate", "create", "alter", "drop", "refresh", "set"],
  ...["do", "call", "copy", "lock", "share", "declare", "fetch", "listen", "notify", "pg_notify", "nextval"],
  ...["setval", "set_config", "vacuum", "analyze", "make_day", "make_month", "drop_expired"],
  ...["pg_\\w*advisory\\w*", "pg_\\w+_backend"],
]
const WRITES = new RegExp(`\\b(${WRITING_WORDS.join("|")})\\b`, "i")

const PARAMETER = /@([a-zA-Z]\w*)(?:\.(\w+))?/g
const NAME = /\{(\w+)\}/g

/** One `$n` of the text. A list of objects has one for each field. */
interface Slot {
  readonly parameter: string
  readonly field: string | undefined
  readonly sqlType: string
  readonly encode: (value: never) => string | null
}

function slotsOf(params: Params): Slot[] {
  return Object.entries(params).flatMap(([parameter, given]): Slot[] =>
    "columns" in given
      ? given.columns.map((column) => ({ parameter, ...column }))
      : [{ parameter, field: undefined, sqlType: given.sqlType, encode: given.encode }],
  )
}

/** The text with its parameters as `$1`, each cast to its type. */
function place(name: string, sql: string, params: Params, slots: readonly Slot[]): string {
  const numbered = slots.map((slot, index) => ({ ...slot, text: `$${index + 1}::${slot.sqlType}` }))
  return sql.replace(PARAMETER, (found, parameter: string, field?: string) => {
    const given = params[parameter]
    const own = numbered.filter((slot) => slot.parameter === parameter)
    if (given === undefined || !("columns" in given))
      return `${own[0]?.text}${field === undefined ? "" : `.${field}`}`
    if (field === "columns") return given.columns.map((column) => column.name).join(", ")
    const wanted = own.filter((slot) => field === undefined || slot.field === field)
    if (wanted.length === 0) throw new TypeError(`${name}: ${found} is no field of @${parameter}`)
    return wanted.map(({ text }) => text).join(", ")
  })
}

function checkParameters(name: string, sql: string, declared: readonly string[]): void {
  const used = new Set(Array.from(sql.matchAll(PARAMETER), ([, parameter = ""]) => parameter))
  const wrong = [...declared.filter((parameter) => !used.delete(parameter)), ...used]
  if (wrong.length > 0)
    throw new TypeError(`${name}: used and declared parameters differ: ${wrong.join(", ")}`)
}

/**
 * Puts the schema in: `{runs}` is a table, `{schema}` the schema, `{now}` its clock. The clock is read in a
 * sub-select: once for each mention, whatever the number of rows, and usable as an index condition.
 */
export function resolveNames(sql: string, schema: string): string {
  const quoted = quoteIdentifier(schema)
  return sql.replace(NAME, (_, name: string) => {
    if (name === "schema") return quoted
    if (name === "now") return `(select ${quoted}.now())`
    return `${quoted}.${quoteIdentifier(name)}`
  })
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
