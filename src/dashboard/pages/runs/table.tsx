/** The table of runs. Every row that is not running says why. */

import { quoted } from "../../app/filter-text.ts"
import type { Pool, Run } from "../../app/records.ts"
import { waitedText, whyOf } from "../../app/run-words.ts"
import { lengthText } from "../../app/times.ts"
import { State } from "../../marks/state-mark.tsx"
import { Instant } from "../../parts/instant.tsx"
import { Link, RunLink } from "../../parts/link.tsx"
import { Scroll } from "../../parts/scroll.tsx"
import type { Rows } from "../../parts/use-rows.ts"

interface RunTableProps {
  readonly runs: readonly Run[]
  readonly rows: Rows
  readonly pools: readonly Pool[] | undefined
  readonly nowMs: number
}

const LATE_MS = 60_000

export function RunTable({ runs, rows, pools, nowMs }: RunTableProps) {
  const allSelected = runs.every(({ id }) => rows.selected.has(id))
  return (
    <Scroll>
      <table class="table table-flush table-cards">
        <thead>
          <tr>
            <th class="tight">
              <input
                type="checkbox"
                aria-label="Select all on this page"
                checked={allSelected}
                indeterminate={rows.selected.size > 0 && !allSelected}
                onChange={() => (allSelected ? rows.clear() : rows.selectAll(runs.map(({ id }) => id)))}
              />
            </th>
            <th>State</th>
            <th>Run</th>
            <th>Job</th>
            <th>Tenant</th>
            <th>Pool</th>
            <th class="num">Attempt</th>
            <th class="num">Due</th>
            <th class="num">Waited</th>
            <th class="num">Ran</th>
            <th>Why, or how it ended</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <Row key={run.id} run={run} rows={rows} pools={pools} nowMs={nowMs} />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Row({ run, rows, pools, nowMs }: Omit<RunTableProps, "runs"> & { readonly run: Run }) {
  const why = whyOf(run, nowMs, pools)
  const waited = waitedText(run, nowMs)
  const isLate = run.state === "ready" && nowMs - Date.parse(run.dueAt) > LATE_MS
  return (
    <tr data-row={run.id} data-focus={rows.focused === run.id} data-selected={rows.selected.has(run.id)}>
      <td class="wide-only">
        <input
          type="checkbox"
          aria-label={`Select run ${run.id}`}
          checked={rows.selected.has(run.id)}
          onClick={(event) => rows.toggle(run.id, event.shiftKey)}
        />
      </td>
      <td class="at-top">
        <State state={run.state} />
      </td>
      <td class="at-mid-end">
        <RunLink id={run.id} />
      </td>
      <td class="name at-mid cut">
        <Link to="runs" params={{ filter: `job:${quoted(run.job)}` }}>
          {run.job}
        </Link>
      </td>
      <td class="soft at-mid-2">{run.tenant}</td>
      <td class="soft wide-only">{run.pool}</td>
      <td class="num wide-only">{run.attempt === 0 ? "–" : run.attempt}</td>
      <td class="num soft at-top-end">
        <Instant at={run.dueAt} as="distance" />
      </td>
      <td class={`num wide-only ${isLate ? "warn" : ""}`}>{waited}</td>
      <td class="num wide-only">{run.durationMs === undefined ? "" : lengthText(run.durationMs)}</td>
      <td class={`fill at-foot ${why.tone ?? "soft"}`} title={why.text}>
        {why.text}
      </td>
    </tr>
  )
}
