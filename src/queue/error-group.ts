/** The state of a group of dead letters: what an operator decided, and what has happened since. */
import { compareVersions } from "../job/version.ts"

/**
 * `open`: no decision. `ignored`: it is known, and needs no work. `resolved`: the code was fixed.
 * `regressed`: a run died after it was resolved, in the version that resolves it or in a later one.
 */
export type ErrorGroupState = "open" | "ignored" | "resolved" | "regressed"

export interface StoredGroupState {
  readonly state: "resolved" | "ignored"
  /** The version that resolves it. Null: every later death counts against it. */
  readonly version: string | null
}

/** `versionsSince` are the versions in which runs died after the group was resolved; null is an unknown version. */
export function stateOfGroup(
  stored: StoredGroupState | undefined,
  versionsSince: readonly (string | null)[],
): ErrorGroupState {
  if (stored === undefined) return "open"
  if (stored.state === "ignored") return "ignored"
  const { version } = stored
  // An older version still runs during a deploy, and its deaths say nothing about the fix.
  const counts = (since: string | null) =>
    version === null || since === null || compareVersions(since, version) >= 0
  return versionsSince.some(counts) ? "regressed" : "resolved"
}
