/** The kinds of limit keys (queue/limit-kind.ts) as conditions in SQL. */
import { LIMIT_KINDS, type LimitBehaviour, type LimitKind } from "../../queue/limit-kind.ts"

/** Does an entry of run_limits have a kind that behaves so? `column` holds the kind. */
export function isKindThat(behaviour: keyof LimitBehaviour, column = "kind"): string {
  const kinds = (Object.keys(LIMIT_KINDS) as LimitKind[]).filter((kind) => LIMIT_KINDS[kind][behaviour])
  return `${column} in (${kinds.map((kind) => `'${kind}'`).join(", ")})`
}

/** The places of a run as JSON that `runs/replay` reads: a list of [key, kind, limit_name]. */
export function placesOf(run: string): string {
  return `(
        select json_agg(json_build_array(entry.key, kind, limit_name)) from {run_limits} as entry where run = ${run}
      )`
}
