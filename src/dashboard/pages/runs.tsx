/** Runs: every state, filtered, page by page. The address is the saved view. */

import { withParams } from "../app/api.ts"
import { useDashboard } from "../app/dashboard.ts"
import { termsOf, textOf } from "../app/filter-text.ts"
import { cappedText, countText } from "../app/numbers.ts"
import type { Count, Job, Page, Run, Schedule, StatsNow } from "../app/records.ts"
import { useQuery } from "../app/use-query.ts"
import { markOf, StateMark, stateWord } from "../marks/state-mark.tsx"
import { Button } from "../parts/button.tsx"
import { CopyAs, shellQuoted } from "../parts/copy-as.tsx"
import { FilterBar } from "../parts/filter-bar.tsx"
import { enqueueSnippets } from "../parts/first-snippets.ts"
import { Link } from "../parts/link.tsx"
import { Pager, useCursors } from "../parts/pager.tsx"
import { Failure, Message, Skeletons } from "../parts/panel.tsx"
import { Snippet } from "../parts/snippet.tsx"
import { useRows } from "../parts/use-rows.ts"
import { RunActions } from "./runs/actions.tsx"
import { RunTable } from "./runs/table.tsx"

const STATES = [
  "waiting",
  "parked",
  "ready",
  "running",
  "succeeded",
  "dead",
  "cancelled",
  "expired",
  "discarded",
]
const LIMIT = 50

export function RunsPage() {
  const { router, nowMs } = useDashboard()
  const { params } = router.place.value
  const filter = params.get("filter") ?? ""
  const state = params.get("state") ?? ""
  const whole = textOf([...(state === "" ? [] : [`state:${state}`]), ...termsOf(filter)])
  const cursors = useCursors(whole)
  const page = useQuery<Page<Run>>(
    withParams("/runs", { filter: whole, limit: LIMIT, cursor: cursors.cursor }),
    { everyMs: cursors.isFirst ? 3_000 : 0 },
  )
  const now = useQuery<StatsNow>("/stats/now", { everyMs: 10_000 })
  const jobs = useQuery<Page<Job>>("/jobs?limit=1000", { everyMs: 60_000 })
  const schedules = useQuery<Page<Schedule>>("/schedules?limit=1000", { everyMs: 60_000 })
  const items = page.data?.items ?? []
  const rows = useRows(
    items.map(({ id }) => id),
    (id) => router.go(`runs/${id}`),
  )
  const setFilter = (value: string) => router.setParam("filter", value, "push")
  const known = {
    "job:": jobs.data?.items.map(({ name }) => name) ?? [],
    "pool:": now.data?.pools.map(({ name }) => name) ?? [],
    "schedule:": schedules.data?.items.map(({ name }) => name) ?? [],
    "state:": STATES,
  }
  return (
    <div class="page page-flush">
      <div class="list-head">
        <FilterBar value={filter} onChange={setFilter} known={known}>
          <CopyAs
            tongues={{
              cli: `run list${whole === "" ? "" : ` --filter ${shellQuoted(whole)}`}`,
              path: withParams("/runs", { filter: whole }),
              code: `await carillon.runs.list({ filter: ${JSON.stringify(whole)} })`,
            }}
          />
        </FilterBar>
        <StateTabs filter={filter} current={state} />
      </div>
      {page.problem && <Failure problem={page.problem} onRetry={page.refresh} />}
      {page.data === undefined &&
        !page.problem &&
        (page.waiting ? <Skeletons rows={12} slow={page.slow} /> : null)}
      {page.data !== undefined && items.length > 0 && (
        <RunTable runs={items} rows={rows} pools={now.data?.pools} nowMs={nowMs.value} />
      )}
      {page.data !== undefined && items.length === 0 && (
        <Nothing filter={filter} state={state} onFilter={setFilter} />
      )}
      {page.data !== undefined && items.length > 0 && (
        <div class="list-foot">
          <span>
            The newest first · {countText(items.length)} on this page
            {page.data.searched !== undefined && ` · searched the newest ${countText(page.data.searched)}`}
            {page.tookMs !== undefined && ` · read in ${page.tookMs} ms`}
          </span>
          <Pager cursors={cursors} nextCursor={page.data.nextCursor} />
        </div>
      )}
      {rows.selected.size > 0 && (
        <RunActions ids={[...rows.selected]} runs={items} onDone={rows.clear} onChanged={page.refresh} />
      )}
    </div>
  )
}

function StateTabs({ filter, current }: { readonly filter: string; readonly current: string }) {
  return (
    <nav class="tabs" aria-label="States">
      <Tab filter={filter} state="" current={current === ""} />
      {STATES.map((state) => (
        <Tab key={state} filter={filter} state={state} current={state === current} />
      ))}
    </nav>
  )
}

function Tab({
  filter,
  state,
  current,
}: {
  readonly filter: string
  readonly state: string
  readonly current: boolean
}) {
  const whole = textOf([...(state === "" ? [] : [`state:${state}`]), ...termsOf(filter)])
  const count = useQuery<Count>(withParams("/runs/count", { filter: whole }), { everyMs: 10_000 })
  const params = { ...(filter !== "" && { filter }), ...(state !== "" && { state }) }
  return (
    <Link to="runs" params={params} current={current}>
      {state !== "" && <StateMark name={markOf(state)} />}
      {state === "" ? "All" : stateWord(state)}
      <span class="n">{count.data === undefined ? "" : cappedText(count.data)}</span>
    </Link>
  )
}

interface NothingProps {
  readonly filter: string
  readonly state: string
  readonly onFilter: (filter: string) => void
}

function Nothing({ filter, state, onFilter }: NothingProps) {
  const { api } = useDashboard()
  const terms = termsOf(filter)
  if (terms.length === 0 && state === "") {
    return (
      <Message title="No runs yet">
        <p>Enqueue one from your code, or from a terminal:</p>
        <Snippet label="Ways to enqueue a run" texts={enqueueSnippets(api.address(""))} />
      </Message>
    )
  }
  return (
    <Message title="No run matches">
      <p>
        {state !== "" && (
          <>
            <b>state:</b>
            {state}{" "}
          </>
        )}
        {filter}
      </p>
      <span class="buttons">
        {terms.slice(-1).map((term) => (
          <Button key={term} onPress={() => onFilter(textOf(terms.slice(0, -1)))}>
            Drop {term}
          </Button>
        ))}
        <Link to="runs" class="button button-quiet">
          Show all runs
        </Link>
      </span>
    </Message>
  )
}
