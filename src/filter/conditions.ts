/** A plan in the few kinds of conditions that a row is checked by: lists, windows, and terms for all the rest. */
import type { Comparison, FieldName } from "./fields.ts"
import { type Filter, instantOf, type Term } from "./filter.ts"
import type { FilterPlan } from "./plan.ts"
import { boundOf, EVER, exactOf, intersection, isExact, textsOf, type Window } from "./terms.ts"

export interface Conditions {
  readonly states: readonly string[]
  /** One of them; `undefined` is any. */
  readonly jobs: readonly string[] | undefined
  readonly pools: readonly string[] | undefined
  readonly tenants: readonly string[] | undefined
  readonly enqueued: Window
  readonly finished: Window
  readonly rest: readonly RestTerm[]
}

/** A term in plain JSON. Exactly one of the tests is there. */
export interface RestTerm {
  readonly field: FieldName
  readonly path?: readonly string[]
  readonly negated: boolean
  readonly kind: "words" | "numbers" | "compare"
  readonly texts?: readonly string[]
  readonly prefixes?: readonly string[]
  readonly numbers?: readonly number[]
  readonly by?: Comparison
  readonly bound?: number
}

/** Fields whose exact values are a list of their own. */
const LISTED = ["job", "pool", "tenant"] as const

export function conditionsOf({ terms }: Filter, plan: FilterPlan, nowMs: number): Conditions {
  return {
    states: Object.values(plan.states).flat(),
    jobs: exactOf(terms, "job"),
    pools: exactOf(terms, "pool"),
    tenants: exactOf(terms, "tenant"),
    enqueued: windowOf(terms, "enqueued", nowMs),
    finished: windowOf(terms, "finished", nowMs),
    rest: terms.filter((term) => !isListed(term)).map((term) => restOf(term, nowMs)),
  }
}

function isListed(term: Term): boolean {
  if (term.field === "state") return true
  if ((LISTED as readonly string[]).includes(term.field)) return isExact(term)
  return isWindow(term)
}

/** Every run was enqueued, so a bound of that can be turned round. A run that lives has no end. */
function isWindow({ field, not, test }: Term): boolean {
  return test.is === "time" && (field === "enqueued" || (field === "finished" && !not))
}

function windowOf(terms: readonly Term[], field: FieldName, nowMs: number): Window {
  return terms
    .filter((term) => term.field === field && isWindow(term))
    .map(
      ({ test, not }): Window =>
        test.is === "time" ? boundOf(test.by, instantOf(test.value, nowMs), not) : {},
    )
    .reduce(intersection, EVER)
}

function restOf(term: Term, nowMs: number): RestTerm {
  const { field, path, not: negated, test } = term
  const common = { field, ...(path && { path }), negated }
  if (test.is === "words") {
    const texts = textsOf(term)
    const prefixes = textsOf(term, true)
    return { ...common, kind: "words", texts, ...(prefixes.length > 0 && { prefixes }) }
  }
  if (test.is === "numbers") return { ...common, kind: "numbers", numbers: test.any }
  const bound = test.is === "time" ? instantOf(test.value, nowMs) : test.value
  return { ...common, kind: "compare", by: test.by, bound }
}
