/** One group of dead letters: what it is, how to replay it, and its runs. */

import { withParams } from "../../app/api.ts"
import { cappedText } from "../../app/numbers.ts"
import type { DeadLetterGroup, Page, Run } from "../../app/records.ts"
import { groupedBy } from "../../app/stats-sums.ts"
import { lengthText } from "../../app/times.ts"
import { useQuery } from "../../app/use-query.ts"
import { RankedBars, withOthers } from "../../parts/bars.tsx"
import { Instant } from "../../parts/instant.tsx"
import { RunLink } from "../../parts/link.tsx"
import { Pager, useCursors } from "../../parts/pager.tsx"
import { Loaded, Panel } from "../../parts/panel.tsx"
import { Scroll } from "../../parts/scroll.tsx"
import { GroupActions } from "./group-actions.tsx"
import { ReplaySteps } from "./replay-steps.tsx"

interface GroupDetailProps {
  readonly group: DeadLetterGroup
  readonly onChanged: () => void
  /** Told when letters of the group begin to leave it. */
  readonly onReplay: () => void
}

export function GroupDetail({ group, onChanged, onReplay }: GroupDetailProps) {
  const { job, fingerprint, sample, firstSeen, lastSeen, state } = group
  const cursors = useCursors(`${job}${fingerprint}`)
  const letters = useQuery<Page<Run>>(
    withParams("/dead-letters", { job, fingerprint, limit: 25, cursor: cursors.cursor }),
    {
      everyMs: cursors.isFirst ? 5_000 : 0,
    },
  )
  const items = letters.data?.items ?? []
  const refresh = () => {
    letters.refresh()
    onChanged()
  }
  return (
    <div class="page">
      <div class="page-head">
        <div class="grow">
          <h2 class="title mono-title">{sample?.message ?? fingerprint}</h2>
          <p class="soft small">
            {cappedText(group)} of <b>{job}</b>
            {firstSeen !== undefined && (
              <>
                {" "}
                · first <Instant at={firstSeen} />
              </>
            )}
            {lastSeen !== undefined && (
              <>
                , last <Instant at={lastSeen} as="distance" />
              </>
            )}
            {sample?.code !== undefined && (
              <>
                {" "}
                · <code>{sample.code}</code>
              </>
            )}
            {state === "regressed" && " · it was resolved, and came back"}
          </p>
        </div>
        <GroupActions group={group} onChanged={refresh} />
      </div>
      {items.length > 0 && (
        <div class="two">
          <Shares title="Tenants" runs={items} of={({ tenant }) => tenant ?? "no tenant"} />
          <Shares title="Code version" runs={items} of={({ version }) => version ?? "unknown"} />
        </div>
      )}
      <ReplaySteps group={group} letters={items} onChanged={refresh} onReplay={onReplay} />
      <Panel
        title="Dead letters of this group"
        note={items.length > 0 ? `newest of ${cappedText(group)}` : undefined}
        lined
        flush
      >
        <Loaded query={letters} rows={5}>
          {({ nextCursor }) => (
            <>
              <Scroll>
                <table class="table table-small">
                  <thead>
                    <tr>
                      <th>Run</th>
                      <th>Tenant</th>
                      <th>Died</th>
                      <th class="num">Attempts</th>
                      <th class="num">Ran</th>
                      <th>Error</th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((run) => (
                      <tr key={run.id}>
                        <td>
                          <RunLink id={run.id} />
                        </td>
                        <td class="soft">{run.tenant ?? "–"}</td>
                        <td>
                          {run.finishedAt !== undefined && <Instant at={run.finishedAt} as="distance" />}
                        </td>
                        <td class="num">{run.attempt}</td>
                        <td class="num soft">
                          {run.durationMs === undefined ? "–" : lengthText(run.durationMs)}
                        </td>
                        <td class="fill dead" title={run.error?.message}>
                          {run.error?.message}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Scroll>
              <div class="list-foot">
                <span>The newest first</span>
                <Pager cursors={cursors} nextCursor={nextCursor} />
              </div>
            </>
          )}
        </Loaded>
      </Panel>
    </div>
  )
}

interface SharesProps {
  readonly title: string
  readonly runs: readonly Run[]
  readonly of: (run: Run) => string
}

function Shares({ title, runs, of }: SharesProps) {
  const rows = [...groupedBy(runs, of)]
    .map(([name, own]) => ({ key: name, label: name, value: own.length, text: String(own.length) }))
    .toSorted((a, b) => b.value - a.value)
  return (
    <Panel title={title} note={`of the newest ${runs.length}`}>
      <RankedBars
        rows={withOthers(rows, (others) => {
          const count = others.reduce((sum, { value }) => sum + value, 0)
          return { key: "others", label: `${others.length} others`, value: count, text: String(count) }
        })}
      />
    </Panel>
  )
}
