/** The fields of a filter, as one table: reading, printing, matching, planning and the reference all derive from it. */
import type { RunState } from "../queue/run-state.ts"

/** The part of a run that a filter looks at. What is absent matches nothing. */
export interface FilteredRun {
  readonly id: string
  readonly state: RunState
  readonly job: string
  readonly pool: string
  readonly priority: number
  readonly attempt: number
  readonly enqueuedAt: Date
  readonly dueAt: Date
  readonly tenant?: string
  readonly tags?: readonly string[]
  readonly key?: string
  readonly input?: unknown
  readonly error?: { readonly code?: string; readonly fingerprint?: string }
  readonly schedule?: { readonly id: string; readonly name: string }
  readonly worker?: string
  readonly startedAt?: Date
  readonly finishedAt?: Date
  readonly durationMs?: number
}

/** `job`, `error.code`: where the value of a field is in a run. */
export type RunPath = PathOf<FilteredRun>
type PathOf<T> = {
  [K in keyof T & string]-?: unknown extends T[K] ? K : Step<K, NonNullable<T[K]>>
}[keyof T & string]
type Step<K extends string, V> = V extends Date | readonly unknown[] | string | number
  ? K
  : `${K}.${keyof V & string}`

/** How a field is compared. `:` is "one of"; the others compare with one value. */
export type Comparison = ">" | ">=" | "<" | "<="
export type Operator = ":" | Comparison

/** `one` is how "one of" is printed. */
interface Kind {
  readonly takes: string
  readonly operators: readonly Operator[]
  readonly one: ":" | "="
  readonly takesPrefix: boolean
}

const ORDERED = [">", ">=", "<", "<="] as const

/** What the values of a field are, and which comparisons that allows. */
export const KINDS = {
  state: { takes: "a state of a run", operators: [":"], one: ":", takesPrefix: false },
  word: {
    takes: "a text, or its beginning and a `*`",
    operators: [":"],
    one: ":",
    takesPrefix: true,
  },
  id: { takes: "the id of a run", operators: [":"], one: ":", takesPrefix: false },
  whole: { takes: "a whole number", operators: [":", ...ORDERED], one: "=", takesPrefix: false },
  moment: {
    takes: "a time as `2026-03-01T00:00Z` or `2026-03-01`, or from now as `-1h`, `+30m` or `now`",
    operators: ORDERED,
    one: "=",
    takesPrefix: false,
  },
  length: {
    takes: "a duration as `250ms`, `30s`, `5m`, `1.5h` or `7d`",
    operators: ORDERED,
    one: "=",
    takesPrefix: false,
  },
  json: {
    takes: "a text, a number, `true` or `false`; with `<` and `>` a number",
    operators: [":", ...ORDERED],
    one: "=",
    takesPrefix: true,
  },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof KINDS

export interface Field {
  readonly kind: KindName
  /** Where a run has its value. `schedule` has a name and an id, and either will do. */
  readonly reads: readonly RunPath[]
  readonly means: string
  readonly example: string
  /** What it is called elsewhere, for "did you mean". */
  readonly elsewhere: readonly string[]
}

export const FIELDS = {
  state: {
    kind: "state",
    reads: ["state"],
    means: "The state of the run.",
    example: "state:ready,running",
    elsewhere: ["status", "stage", "outcome"],
  },
  job: {
    kind: "word",
    reads: ["job"],
    means: "The name of the job.",
    example: "job:invoice.*",
    elsewhere: ["name", "task", "jobs", "type", "class", "kind"],
  },
  pool: {
    kind: "word",
    reads: ["pool"],
    means: "The pool.",
    example: "pool:mail",
    elsewhere: ["queue", "lane", "pools"],
  },
  tenant: {
    kind: "word",
    reads: ["tenant"],
    means: "The tenant that the run is for. `-tenant:*` finds the runs without one.",
    example: "-tenant:acme",
    elsewhere: ["customer", "account", "group", "tenants"],
  },
  schedule: {
    kind: "word",
    reads: ["schedule.name", "schedule.id"],
    means: "The name or the id of the schedule that made the run.",
    example: "schedule:nightly",
    elsewhere: ["cron", "schedules", "repeat"],
  },
  tag: {
    kind: "word",
    reads: ["tags"],
    means: "One of the tags of the run.",
    example: "tag:eu",
    elsewhere: ["tags", "label", "labels"],
  },
  worker: {
    kind: "word",
    reads: ["worker"],
    means: "The worker that has the run, or had it last.",
    example: "worker:host-3*",
    elsewhere: ["workers", "host", "hostname", "process"],
  },
  error: {
    kind: "word",
    reads: ["error.code"],
    means: "The code of the last error.",
    example: "error:ETIMEDOUT",
    elsewhere: ["code", "errors", "reason", "errorCode"],
  },
  fingerprint: {
    kind: "word",
    reads: ["error.fingerprint"],
    means: "The fingerprint of the last error, which is the same for errors that are likely the same.",
    example: 'fingerprint:"ETIMEDOUT:connect"*',
    elsewhere: ["hash", "group"],
  },
  key: {
    kind: "word",
    reads: ["key"],
    means: "The key that the run was enqueued with.",
    example: 'key:"order 7"',
    elsewhere: ["jobId", "singletonKey", "uniqueKey", "idempotency-key"],
  },
  id: {
    kind: "id",
    reads: ["id"],
    means: "The id of the run.",
    example: "id:01890a5d-ac96-774b-bcce-b302099a8057",
    elsewhere: ["run", "runId", "ids", "uuid"],
  },
  priority: {
    kind: "whole",
    reads: ["priority"],
    means: "The priority of the run. Higher goes first.",
    example: "priority>0",
    elsewhere: ["prio"],
  },
  attempt: {
    kind: "whole",
    reads: ["attempt"],
    means: "How many attempts the run has had, the current one included.",
    example: "attempt>=3",
    elsewhere: ["attempts", "tries", "retries", "attemptsMade"],
  },
  enqueued: {
    kind: "moment",
    reads: ["enqueuedAt"],
    means: "When the run was enqueued.",
    example: "enqueued>-1d",
    elsewhere: ["created", "enqueuedAt", "createdAt", "inserted", "submitted", "age"],
  },
  due: {
    kind: "moment",
    reads: ["dueAt"],
    means: "When the run is or was due.",
    example: "due<2026-03-01T00:00Z",
    elsewhere: ["dueAt", "runAt", "scheduledAt", "scheduled", "at"],
  },
  started: {
    kind: "moment",
    reads: ["startedAt"],
    means: "When the last attempt started.",
    example: "started<-10m",
    elsewhere: ["startedAt", "began", "attempted"],
  },
  finished: {
    kind: "moment",
    reads: ["finishedAt"],
    means: "When the run ended.",
    example: "finished>-1h",
    elsewhere: ["finishedAt", "ended", "completed", "endedAt", "completedAt", "failedAt"],
  },
  duration: {
    kind: "length",
    reads: ["durationMs"],
    means: "How long the last attempt took.",
    example: "duration>=30s",
    elsewhere: ["durationMs", "took", "runtime", "elapsed", "latency"],
  },
  input: {
    kind: "json",
    reads: ["input"],
    means: "A value inside the input, by its path. A step of the path that is no plain word has quotes.",
    example: "input.customer.id=42",
    elsewhere: ["payload", "data", "args", "params", "body"],
  },
} as const satisfies Record<string, Field>

export type FieldName = keyof typeof FIELDS

export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[]

export function fieldOf(name: FieldName): Field {
  return FIELDS[name]
}

export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name)
}
