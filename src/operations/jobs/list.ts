/** Lists declared jobs by name, a page at a time. */
import type { JobDescription } from "../../job/define.ts"
import { overriddenSetting } from "../../job/override.ts"
import { readSettings, type StoredSettings } from "../../job/reconcile.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { listJobs } from "../../store/jobs/list.ts"
import { listOverrides } from "../../store/overrides/list.ts"
import type { Statement } from "../../store/statement.ts"
import { toDate } from "../../time/instant.ts"
import { type PauseNote, pauseOf } from "../pools/list.ts"

/** One setting of a job. */
export interface JobSetting {
  /** The value. Absent for a setting that is off, as a timeout that no one set. */
  readonly value?: unknown
  /** Whether an operator has overridden it, the code sets it, or the default applies. */
  readonly from: "override" | "code" | "default"
  /** There if an operator has overridden it. */
  readonly override?: OverrideNote
}

/** Who has overridden a setting, and why. */
export interface OverrideNote {
  /** Since when. */
  readonly at: Date
  /** When the override ends by itself. Absent if it lasts until an operator clears it. */
  readonly until?: Date
  /** Who has overridden it. */
  readonly actor: string
  /** Why; empty if no reason was given. */
  readonly reason: string
  /** What the setting is without the override. Absent for a setting that is off then. */
  readonly declared?: unknown
}

/** A job as the newest version of the code declares it. */
export interface JobRecord {
  /** The name of the job. */
  readonly name: string
  /** The settings by name, as they are stored. */
  readonly settings: Readonly<Record<string, JobSetting>>
  /** Whether the job checks its input. */
  readonly hasSchema: boolean
  /** The JSON Schema of the input. Absent if there is no schema, or if its library cannot express it. */
  readonly inputSchema?: Readonly<Record<string, unknown>>
  /** The version of the code that declared the job, if the application has one. */
  readonly version?: string
  /** When that version declared it. */
  readonly declaredAt: Date
  /** There if the job is paused. */
  readonly paused?: PauseNote
}

export interface JobListRequest {
  /** Only these. All, if it is null. */
  readonly names: readonly string[] | null
  /** The page begins after this name. */
  readonly after: string
  readonly limit: number
}

export interface JobListAnswer {
  readonly items: readonly JobRecord[]
  /** The next page begins after this name. Undefined if this page is the last. */
  readonly next: string | undefined
}

export async function list({ database }: Runtime, request: JobListRequest): Promise<JobListAnswer> {
  const { limit } = request
  // One more, to know whether there is another page.
  const rows = await database.run(listJobs, { ...request, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const overrides = await database.run(listOverrides, { names: page.map(({ name }) => name) })
  const items = page.map(({ name, settings, described, version, declared_at: at, ...pause }) => {
    const { hasSchema, ...stored } = readSettings(settings)
    const { given, inputSchema } = descriptionOf(described)
    return {
      name,
      settings: {
        ...settingsWithSource(stored, given),
        ...overriddenSettings(
          stored,
          overrides.filter(({ job }) => job === name),
        ),
      },
      hasSchema: hasSchema === true,
      ...(inputSchema && { inputSchema }),
      ...(version !== null && { version }),
      declaredAt: toDate(at),
      ...pauseOf(pause),
    }
  })
  return { items, next: rows.length > limit ? items.at(-1)?.name : undefined }
}

type Override = typeof listOverrides extends Statement<infer _, infer Row> ? Row : never

/** Options that are stored under another name. */
const OPTION_OF: Readonly<Record<string, string>> = { timeoutMs: "timeout" }

function settingsWithSource(settings: StoredSettings, given: readonly string[]): Record<string, JobSetting> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      {
        ...(value !== null && { value }),
        from: given.includes(OPTION_OF[name] ?? name) ? ("code" as const) : ("default" as const),
      },
    ]),
  )
}

function overriddenSettings(
  stored: StoredSettings,
  overrides: readonly Override[],
): Record<string, JobSetting> {
  return Object.fromEntries(
    overrides.map(({ setting, value, set_at: at, ends_at: endsAt, actor, reason }) => {
      const name = Object.keys(OPTION_OF).find((key) => OPTION_OF[key] === setting) ?? setting
      const declared = stored[name] ?? null
      return [
        name,
        {
          value: overriddenSetting(setting, declared, JSON.parse(value)),
          from: "override" as const,
          override: {
            at: toDate(at),
            ...(endsAt !== null && { until: toDate(endsAt) }),
            ...{ actor, reason },
            ...(declared !== null && { declared }),
          },
        },
      ]
    }),
  )
}

/** `jobs/describe` has written it. */
function descriptionOf(json: string | null): JobDescription {
  return json === null ? { given: [] } : (JSON.parse(json) as JobDescription)
}
