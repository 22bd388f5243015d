/**
 * Compares declared jobs with stored jobs: which are new, which changed and how, and which stay because a later
 * version of the code declared them.
 */
import { isPlainObject } from "../options/check.ts"
import { formatInstant, isDate } from "../time/instant.ts"
import type { AnyJob } from "./define.ts"
import { compareVersions } from "./version.ts"

/** The settings of a job, as JSON. */
export type StoredSettings = Readonly<Record<string, unknown>>

export interface DeclaredJob {
  readonly name: string
  readonly settings: StoredSettings
  /** The version of the code that declares the job, if the application sets one. */
  readonly version: string | null
  /** What the code says beside the settings, as JSON. It decides nothing. */
  readonly described?: string
}

export type Reconciliation =
  /** No stored job has this name. */
  | { readonly job: string; readonly verdict: "new" }
  /** The settings differ, and the declared ones win. */
  | { readonly job: string; readonly verdict: "changed"; readonly changes: readonly JobChange[] }
  /** The settings are the same. `advances` if the declaring code has a later version. */
  | { readonly job: string; readonly verdict: "unchanged"; readonly advances: boolean }
  /** The settings differ, but the declaring code is older. The stored ones win. */
  | {
      readonly job: string
      readonly verdict: "older"
      readonly declared: string | null
      readonly stored: string
    }

/** One setting that changed, as in `retry.attempts`. Null also stands for a missing value. */
export interface JobChange {
  /** The setting that changed. */
  readonly field: string
  /** The value before the change. */
  readonly before: unknown
  /** The value after the change. */
  readonly after: unknown
}

/** One verdict per declared job, in declaration order. */
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

/** Negative if the declaring code is older. Code without a version counts as older than code with one. */
export function compareAges(declared: string | null, stored: string | null): number {
  if (declared === null || stored === null) return Number(declared !== null) - Number(stored !== null)
  return compareVersions(declared, stored)
}

/** Members of a job that are not settings: its name and its code. */
const NOT_SETTINGS: readonly string[] = [
  "name",
  "parse",
  "execute",
  "accepts",
  "describe",
] satisfies (keyof AnyJob)[]

/** The settings of a job, ready to store and compare. A function becomes the text "(function)". */
export function settingsOf(job: object): StoredSettings {
  return Object.fromEntries(
    Object.entries(job)
      .filter(([key]) => !NOT_SETTINGS.includes(key))
      .flatMap(([key, value]) => (isSet(value) ? [[key, asJson(value)]] : [])),
  )
}

/** Parses stored settings. Anything but an object counts as no settings. */
export function readSettings(json: string): StoredSettings {
  const value: unknown = JSON.parse(json)
  return isPlainObject(value) ? value : {}
}

/** Converts a value to JSON. Values that JSON cannot hold become a description, so a change in them shows. */
function asJson(value: unknown): unknown {
  if (typeof value === "function") return "(function)"
  if (typeof value === "bigint") return String(value)
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
  if (Array.isArray(value)) return value.map((entry) => (isSet(entry) ? asJson(entry) : null))
  if (typeof value !== "object" || value === null) return value
  if (isDate(value)) return formatInstant(value.getTime())
  if (!isPlainObject(value)) return "(object)"
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, entry]) => (isSet(entry) ? [[key, asJson(entry)]] : [])),
  )
}

function isSet(value: unknown): boolean {
  return value !== undefined && typeof value !== "symbol"
}

/** The changes, in the order of the new settings, then the removed ones. */
export function compareFields(before: StoredSettings, after: StoredSettings, path = ""): JobChange[] {
  const keys = [...new Set([...Object.keys(after), ...Object.keys(before)])]
  return keys.flatMap((key) => compareField(settingAt(before, key), settingAt(after, key), join(path, key)))
}

/** Reads own properties only: a setting may be called `constructor`. */
function settingAt(settings: StoredSettings, key: string): unknown {
  return Object.hasOwn(settings, key) ? settings[key] : null
}

/** Compares objects field by field (null counts as an empty object) and all other values as a whole. */
function compareField(before: unknown, after: unknown, field: string): JobChange[] {
  const [earlier, later] = [fieldsOf(before), fieldsOf(after)]
  if (earlier !== undefined && later !== undefined) return compareFields(earlier, later, field)
  return sameJson(before, after) ? [] : [{ field, before, after }]
}

function fieldsOf(value: unknown): StoredSettings | undefined {
  if (value === null) return {}
  return isPlainObject(value) ? value : undefined
}

/** Ignores the order of keys. */
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
