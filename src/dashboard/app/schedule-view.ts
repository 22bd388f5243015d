/** How schedules are shown: their times as text, their zone, and their last occurrences as a strip. */
import type { Fire, Schedule } from "./records.ts"

type Spec = Readonly<Record<string, unknown>>

/** The times as they were written, in one line. */
export function specText(spec: Spec): string {
  if (typeof spec["cron"] === "string") return spec["cron"]
  if (spec["at"] !== undefined && spec["every"] === undefined) return `once at ${String(spec["at"])}`
  if (spec["afterCompletion"] !== undefined) return `${String(spec["afterCompletion"])} after completion`
  const every = spec["every"]
  if (typeof every === "object" && every !== null) {
    return `every ${Object.entries(every)
      .map(([unit, value]) => `${unit} ${String(value)}`)
      .join(", ")}`
  }
  return typeof every === "number" ? `every ${every / 1_000} s` : `every ${String(every ?? "")}`
}

/** The times in English, as a sentence begins. The zone stands beside it. */
export function wordsOf({ words, spec }: Schedule): string {
  const zone = zoneOf(spec)
  const text =
    words === undefined ? specText(spec) : zone === undefined ? words : words.replace(`, in ${zone}`, "")
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export function zoneOf(spec: Spec): string | undefined {
  return typeof spec["timeZone"] === "string" ? spec["timeZone"] : undefined
}

/** The value of a policy, without where it comes from. */
export function policyText(schedule: Schedule, name: "misfire" | "overlap"): string {
  const policy = schedule.policy[name]
  const value = typeof policy === "object" && policy !== null && "value" in policy ? policy.value : policy
  if (typeof value === "object" && value !== null && "mode" in value) return String(value.mode)
  return typeof value === "string" ? value : ""
}

/** Who owns a schedule: the code that declares it, or a caller of the API. */
export function ownerText(schedule: Schedule): { readonly owner: string; readonly detail: string } {
  const { declared } = schedule
  if (!declared) return { owner: "API", detail: "" }
  return { owner: "code", detail: [declared.application, declared.version].filter(Boolean).join(" ") }
}

/** Why a schedule stands, from the cause that it has stored. */
export function causeText(cause: unknown): string {
  if (typeof cause === "string") return cause
  if (typeof cause !== "object" || cause === null) return ""
  const { actor, reason, message, failures } = cause as Record<string, unknown>
  if (typeof message === "string") return message
  if (typeof failures === "number") return `after ${failures} failures in a row`
  const by = typeof actor === "string" && actor !== "" ? `by ${actor}` : ""
  const why = typeof reason === "string" && reason !== "" ? `“${reason}”` : ""
  return [by, why].filter(Boolean).join(": ")
}

const REASONS: Readonly<Record<string, string>> = {
  misfire: "missed, and the policy makes no run for it",
  overlap: "the run before it was still active",
  limit: "the schedule had made all its runs",
  paused: "the schedule was paused",
  retired: "the code did not declare the schedule",
  request: "skipped by hand",
  zone: "new time zone data moved it",
}

/** What became of an occurrence, in words. */
export function fireWords(fire: Fire): { readonly word: string; readonly why: string } {
  if (fire.byHand) return { word: "By hand", why: "" }
  if (fire.outcome === "fired") return { word: "Fired", why: "" }
  if (fire.outcome === "coalesced") return { word: "Made no run", why: "joined into a later occurrence" }
  if (fire.outcome === "superseded") return { word: "Superseded", why: "a later occurrence took its place" }
  const reason = fire.reason ?? ""
  return { word: "Made no run", why: REASONS[reason] ?? reason }
}

type Named = Pick<Schedule, "name" | "tenant">

/** Where its page is. A name belongs to a tenant, so the address has both. */
export function pathOf({ name }: Named): string {
  return `schedules/${encodeURIComponent(name)}`
}

export function tenantParams({ tenant }: Named): Readonly<Record<string, string>> {
  return tenant === undefined ? {} : { tenant }
}
