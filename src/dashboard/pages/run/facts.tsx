/** What is known of a run, as a list. */
import type { ComponentChildren } from "preact"
import { quoted } from "../../app/filter-text.ts"
import type { Run } from "../../app/records.ts"
import { progressText } from "../../app/run-words.ts"
import { lengthText } from "../../app/times.ts"
import { Instant } from "../../parts/instant.tsx"
import { Link } from "../../parts/link.tsx"
import { Panel } from "../../parts/panel.tsx"

export function RunFacts({ run }: { readonly run: Run }) {
  const facts: readonly (readonly [name: string, value: ComponentChildren])[] = [
    ["Run", <code key="id">{run.id}</code>],
    [
      "Job",
      <Link key="job" to="runs" params={{ filter: `job:${quoted(run.job)}` }} class="link">
        {run.job}
      </Link>,
    ],
    ["Pool", run.pool],
    ["Tenant", run.tenant],
    ["Priority", String(run.priority)],
    [
      "Schedule",
      run.schedule && (
        <Link key="schedule" to={`schedules/${encodeURIComponent(run.schedule.name)}`} class="link">
          {run.schedule.name}
        </Link>
      ),
    ],
    ["Occurrence", run.schedule?.occurrence && <Instant key="occurrence" at={run.schedule.occurrence} />],
    ["Makes up for", run.missed && `${run.missed.count} missed`],
    ["Enqueued", <Instant key="enqueued" at={run.enqueuedAt} as="both" />],
    ["Due", <Instant key="due" at={run.dueAt} as="both" />],
    ["Start by", run.startBy && <Instant key="by" at={run.startBy} as="both" />],
    ["Started", run.startedAt && <Instant key="started" at={run.startedAt} as="both" />],
    ["Ended", run.finishedAt && <Instant key="ended" at={run.finishedAt} as="both" />],
    ["Ran", run.durationMs === undefined ? undefined : lengthText(run.durationMs)],
    ["Timeout", run.timeoutMs === undefined ? undefined : lengthText(run.timeoutMs)],
    ["Progress", run.progress === undefined ? undefined : progressText(run.progress)],
    ["Worker", run.worker && <code key="worker">{run.worker}</code>],
    ["Lease until", run.leaseUntil && <Instant key="lease" at={run.leaseUntil} as="both" />],
    ["Version", run.version && <code key="version">{run.version}</code>],
    ["Tags", run.tags?.join(", ")],
    ["Key", run.key && <code key="key">{run.key}</code>],
    ["Idempotency", <code key="idempotency">{run.idempotencyKey}</code>],
    ["Generation", run.generation > 1 ? `${run.generation}, after ${run.generation - 1} replays` : undefined],
  ]
  return (
    <Panel title="Facts">
      <dl class="facts">
        {facts.map(
          ([name, value]) =>
            value !== undefined &&
            value !== "" && (
              <>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </>
            ),
        )}
      </dl>
    </Panel>
  )
}
