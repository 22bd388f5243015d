/**
 * What a declaration of jobs makes of those that are stored: which are new, which differ and in what, and
 * which were declared by a later version of the code and stay as they are.
 */
import { isPlainObject } from "../options/check.ts"
import { formatInstant, isDate } from "../time/instant.ts"
import type { AnyJob } from "./define.ts"
import { compareVersions } from "./version.ts"

/** The settings of a job as JSON can hold them. */
export type StoredSettings = Readonly<Record<string, unknown>>

export interface DeclaredJob {
  readonly name: string
  readonly settings: StoredSettings
  /** The version of the code that declares it, where it has one. */
  readonly version: string | null
}

export type Reconciliation =
  /** Nobody has declared it before. */
  | { readonly job: string; readonly verdict: "new" }
  /** It is declared otherwise than before, and this declaration counts. */
  | { readonly job: string; readonly verdict: "changed"; readonly changes: readonly JobChange[] }
  /** It is declared as it was; `advances` when a later version of the code says so. */
  | { readonly job: string; readonly verdict: "unchanged"; readonly advances: boolean }
  /** It is declared otherwise, but by code that is older than what is stored: what is stored stays. */
  | {
      readonly job: string
      readonly verdict: "older"
      readonly declared: string | null
      readonly stored: string
    }

/** One setting that differs, as in `retry.attempts`. Null stands for nothing, too. */
export interface JobChange {
  /** The setting that changed. */
  readonly field: string
  /** What it was. */
  readonly before: unknown
  /** What it is now. */
  readonly after: unknown
}

/** One verdict per declared job, in the order of their declaration. */
export function reconcile(
  declared: readonly DeclaredJob[],
  stored: readonly DeclaredJob[],
): Reconciliation[] {
  const known = new Map(stored.map((job) => [job.name, job]))
  return declared.map((job) => judge(job, known.get(job.name)))
}

function judge(declared: DeclaredJob, stored: DeclaredJob | undefined): Reconciliation {
  const { name: job } = declared
  if (stored === undefined) return { job, verdict: "new" }
  const changes = compareFields(stored.settings, declared.settings)
  const order = compareAges(declared.version, stored.version)
  if (changes.length === 0) return { job, verdict: "unchanged", advances: order > 0 }
  if (order >= 0) return { job, verdict: "changed", changes }
  return { job, verdict: "older", declared: declared.version, stored: stored.version ?? "" }
}

/** Negative for older code. Code without a version may be of any age: it gives way to whoever says theirs. */
export function compareAges(declared: string | null, stored: string | null): number {
  if (declared === null || stored === null) return Number(declared !== null) - Number(stored !== null)
  return compareVersions(declared, stored)
}

/** What of a job is code, and what it is known by. */
const NOT_SETTINGS: readonly string[] = ["name", "parse", "execute", "accepts"] satisfies (keyof AnyJob)[]

/** The settings of a job, ready to be stored and compared. Functions in them are named as such. */
export function settingsOf(job: object): StoredSettings {
  return Object.fromEntries(
    Object.entries(job)
      .filter(([key]) => !NOT_SETTINGS.includes(key))
      .flatMap(([key, value]) => (isSaid(value) ? [[key, asJson(value)]] : [])),
  )
}

/** Stored settings as they were read. What is not an object of settings says nothing. */
export function readSettings(json: string): StoredSettings {
  const value: unknown = JSON.parse(json)
  return isPlainObject(value) ? value : {}
}

/** What JSON makes of a value, but nothing is lost in silence: what it cannot hold is described. */
function asJson(value: unknown): unknown {
  if (typeof value === "function") return "(function)"
  if (typeof value === "bigint") return String(value)
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
  if (Array.isArray(value)) return value.map((entry) => (isSaid(entry) ? asJson(entry) : null))
  if (typeof value !== "object" || value === null) return value
  if (isDate(value)) return formatInstant(value.getTime())
  if (!isPlainObject(value)) return "(object)"
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, entry]) => (isSaid(entry) ? [[key, asJson(entry)]] : [])),
  )
}

function isSaid(value: unknown): boolean {
  return value !== undefined && typeof value !== "symbol"
}

/** In the order of the new settings, then what has gone. */
export function compareFields(before: StoredSettings, after: StoredSettings, path = ""): JobChange[] {
  const keys = [...new Set([...Object.keys(after), ...Object.keys(before)])]
  return keys.flatMap((key) => compareField(settingAt(before, key), settingAt(after, key), join(path, key)))
}

/** Only what is its own: a job may well have a setting called `constructor`. */
function settingAt(settings: StoredSettings, key: string): unknown {
  return Object.hasOwn(settings, key) ? settings[key] : null
}

/** Objects are compared field by field, also with nothing; everything else as a whole. */
function compareField(before: unknown, after: unknown, field: string): JobChange[] {
  const [earlier, later] = [fieldsOf(before), fieldsOf(after)]
  if (earlier !== undefined && later !== undefined) return compareFields(earlier, later, field)
  return sameJson(before, after) ? [] : [{ field, before, after }]
}

function fieldsOf(value: unknown): StoredSettings | undefined {
  if (value === null) return {}
  return isPlainObject(value) ? value : undefined
}

/** The order of keys is no difference. */
function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((entry, index) => sameJson(entry, b[index]))
  }
  if (isPlainObject(a) && isPlainObject(b)) return compareFields(a, b).length === 0
  return a === b
}

function join(path: string, key: string): string {
  const step = /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  return path === "" ? step.replace(/^\./, "") : path + step
}
