/** One run: what it is, how its attempts went, what went in and what came out. */
import { useState } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import { isLost } from "../app/problem.ts"
import type { Attempt, Page, Run, StatsNow } from "../app/records.ts"
import { whyOf } from "../app/run-words.ts"
import { useQuery } from "../app/use-query.ts"
import { State } from "../marks/state-mark.tsx"
import { JsonView } from "../parts/json-view.tsx"
import { Link, shortId } from "../parts/link.tsx"
import { Failure, Message, Panel, Skeletons } from "../parts/panel.tsx"
import { AttemptDetail } from "./run/attempt.tsx"
import { RunButtons } from "./run/buttons.tsx"
import { RunChanges } from "./run/changes.tsx"
import { RunFacts } from "./run/facts.tsx"
import { AttemptsGantt, GanttLegend } from "./run/gantt.tsx"

const LIVE = ["waiting", "parked", "ready", "running"]

export function RunPage({ name: id }: { readonly name: string }) {
  const [isOver, setIsOver] = useState(false)
  const path = `/runs/${encodeURIComponent(id)}`
  const run = useQuery<Run>(path, { everyMs: isOver ? 15_000 : 2_000 })
  const attempts = useQuery<Page<Attempt>>(`${path}/attempts`, { everyMs: isOver ? 15_000 : 2_000 })
  const { data, problem } = run
  if (data && isOver === LIVE.includes(data.state)) setIsOver(!isOver)
  if (data === undefined) {
    if (problem?.status === 404) return <NoRun id={id} />
    return problem ? (
      <Failure problem={problem} onRetry={run.refresh} />
    ) : (
      <Skeletons rows={10} slow={run.slow} />
    )
  }
  const refresh = () => {
    run.refresh()
    attempts.refresh()
  }
  return (
    <div class="page">
      {problem && !isLost(problem) && <Failure problem={problem} onRetry={run.refresh} />}
      <RunHead run={data} onChanged={refresh} />
      <div class="run-grid">
        <div class="stack">
          <Attempts run={data} attempts={attempts.data?.items} />
          <div class="two">
            <Panel title="Input" lined flush>
              <JsonView value={data.input} label="Input" />
            </Panel>
            <Panel title="Result" lined flush>
              {data.result === undefined ? (
                <Message title={LIVE.includes(data.state) ? "No result yet" : "No result"}>
                  <p>It appears here when an attempt succeeds and returns something.</p>
                </Message>
              ) : (
                <JsonView value={data.result} label="Result" />
              )}
            </Panel>
          </div>
        </div>
        <div class="stack">
          <RunFacts run={data} />
          <RunChanges id={data.id} />
        </div>
      </div>
    </div>
  )
}

function RunHead({ run, onChanged }: { readonly run: Run; readonly onChanged: () => void }) {
  const { nowMs } = useDashboard()
  const now = useQuery<StatsNow>(run.state === "ready" ? "/stats/now" : undefined, { everyMs: 10_000 })
  const why = whyOf(run, nowMs.value, now.data?.pools)
  return (
    <div class="page-head">
      <div class="line wrap">
        <State state={run.state} big />
        <h2 class="title">{run.job}</h2>
        <span class={why.tone ?? "soft"}>{why.text}</span>
      </div>
      <RunButtons run={run} onChanged={onChanged} />
    </div>
  )
}

function Attempts({
  run,
  attempts,
}: {
  readonly run: Run
  readonly attempts: readonly Attempt[] | undefined
}) {
  const [chosen, setChosen] = useState<string>()
  if (!attempts) {
    return (
      <Panel title="Attempts" lined flush>
        <Skeletons rows={3} />
      </Panel>
    )
  }
  const shown =
    attempts.find(({ id }) => id === chosen) ??
    attempts.findLast(({ error, logs }) => error || logs) ??
    attempts.at(-1)
  const charged = attempts.filter((attempt) => attempt.charged).length
  return (
    <>
      <Panel
        title="Attempts"
        note={`${charged} so far${charged < attempts.length ? `, ${attempts.length - charged} more not counted` : ""}`}
        lined
        flush
        end={<GanttLegend />}
      >
        {attempts.length === 0 && !LIVE.includes(run.state) ? (
          <Message title="It never started" />
        ) : (
          <AttemptsGantt run={run} attempts={attempts} chosen={shown?.id} onChoose={setChosen} />
        )}
      </Panel>
      {shown && (shown.error || shown.logs) && (
        <AttemptDetail attempt={shown} fingerprint={run.error?.fingerprint} />
      )}
    </>
  )
}

function NoRun({ id }: { readonly id: string }) {
  return (
    <Message title={`No run ends in ${shortId(id)}`} mark="notice">
      <p>Its history may be over: ended runs are kept for a number of days that their job chooses.</p>
      <Link to="runs" class="button">
        All runs
      </Link>
    </Message>
  )
}
