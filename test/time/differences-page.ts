/** docs/reference/cron-differences.md, written from the findings. */
import { COMPARED, type Difference, KINDS, type Kind, SYNTAX, type SyntaxRow } from "./differences.ts"
import type { Peer } from "./other-libraries.ts"

export interface Versions extends Readonly<Record<Peer, string>> {}

export function renderPage(
  differences: readonly Difference[],
  syntax: readonly SyntaxRow[],
  versions: Versions,
): string {
  const peers = Object.keys(versions) as Peer[]
  return `# How other libraries read cron

This page compares Carillon with croner ${versions.croner} and cron-parser ${versions["cron-parser"]} on a fixed grid:
${COMPARED} pairs of an expression and a day, most of them days on which a clock is changed, and ${SYNTAX.length}
expressions at the borders of the grammar. \`test/time/differences.test.ts\` writes it. The test fails on a disagreement
that is not here, and on one that is here and has gone. The rules of Carillon are in [Times](../guide/cron.md).

**On ordinary days there is no difference**: ${peers
    .map(
      (peer) =>
        `${differences.filter((one) => one.peer === peer && one.kind === "ordinary").length} with ${peer}`,
    )
    .join(", ")}.

## When a clock is changed

${peers.map((peer) => `### ${peer}\n\n${changesTable(differences.filter((one) => one.peer === peer))}`).join("\n\n")}

## What may be written

"The same" means the same times as ours on ordinary days.

| Expression | Carillon | croner | cron-parser | Our rule |
|---|---|---|---|---|
${syntax.map(syntaxLine).join("\n")}
`
}

/** A row for each kind with one example, then every case by its zone. */
function changesTable(differences: readonly Difference[]): string {
  const kinds = (Object.keys(KINDS) as Kind[])
    .map((kind) => ({ kind, all: differences.filter((one) => one.kind === kind) }))
    .filter(({ all }) => all.length > 0)
  return [
    "| What it does | Our rule | Cases | Example | Only we | Only they |",
    "|---|---|---|---|---|---|",
    ...kinds.flatMap(({ kind, all }) =>
      all.slice(0, 1).map((example) => kindLine(kind, all.length, example)),
    ),
    "",
    "All cases:",
    "",
    ...kinds.map(({ kind, all }) => `- It ${KINDS[kind][0]}: ${casesByZone(all)}.`),
  ].join("\n")
}

function kindLine(kind: Kind, cases: number, example: Difference): string {
  const { ours, theirs } = unlike(example)
  const [they, we] = KINDS[kind]
  return `| It ${they} | ${we} | ${cases} | \`${example.cron}\` in ${example.timeZone} | ${ours} | ${theirs} |`
}

function casesByZone(all: readonly Difference[]): string {
  const zones = [...new Set(all.map(({ timeZone }) => timeZone))]
  const cronsOf = (zone: string) =>
    all.filter(({ timeZone }) => timeZone === zone).map(({ cron }) => `\`${cron}\``)
  return zones.map((zone) => `${zone} ${cronsOf(zone).join(", ")}`).join("; ")
}

/** Occurrences that only one of the two has, three of each at most. */
function unlike({ ours, theirs }: Difference): { ours: string; theirs: string } {
  const show = (times: readonly number[]) => {
    const shown = times.slice(0, 3).map((at) => new Date(at).toISOString().slice(0, 16))
    return times.length === 0 ? "nothing" : `${shown.join(", ")}${times.length > 3 ? " …" : ""}`
  }
  return {
    ours: show(ours.filter((at) => !theirs.includes(at))),
    theirs: show(theirs.filter((at) => !ours.includes(at))),
  }
}

function syntaxLine({ cron, rule, ours, theirs }: SyntaxRow): string {
  return `| \`${cron}\` | ${ours} | ${theirs.croner} | ${theirs["cron-parser"]} | ${rule} |`
}
