/** Commands in workflows, hooks and pages: each is a script of the package. */
import type { Source } from "../sources.ts"

const NPM_RUN = /\bnpm run (?:--\S+ )*([a-z][\w:-]*)/g
const ACTION = /\buses: (\S+)/g
/** By its major version: `actions/checkout@v5`. */
const PINNED = /^[\w-]+\/[\w/-]+@v\d+$/

/** Scripts that package.json does not have. */
export function unknownScripts(sources: readonly Source[], scripts: readonly string[]): string[] {
  return found(sources, NPM_RUN).flatMap(({ path, word }) =>
    scripts.includes(word) ? [] : [`${path} runs ${word}`],
  )
}

/** Actions that are not pinned to a major version. */
export function unpinnedActions(sources: readonly Source[]): string[] {
  return found(sources, ACTION).flatMap(({ path, word }) =>
    PINNED.test(word) ? [] : [`${path} uses ${word}`],
  )
}

function found(
  sources: readonly Source[],
  pattern: RegExp,
): { readonly path: string; readonly word: string }[] {
  return sources.flatMap(({ path, text }) =>
    Array.from(text.matchAll(pattern), ([, word = ""]) => ({ path, word })),
  )
}
