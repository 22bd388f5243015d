/** Panels about how work ended: Failures by job, Retries by tenant, Lease expirations, Dead letters. */
import { useDashboard } from "../../app/dashboard.ts"
import { quoted } from "../../app/filter-text.ts"
import { cappedText, countText, plural, shareText } from "../../app/numbers.ts"
import type { DeadLetterGroup, Page, StatsPoint } from "../../app/records.ts"
import { groupedBy, isFailure, minutesFrom, perStep, sumOf } from "../../app/stats-sums.ts"
import { minuteText } from "../../app/times.ts"
import type { Query } from "../../app/use-query.ts"
import { type Ranked, RankedBars, SparkBars, withOthers } from "../../parts/bars.tsx"
import { Link } from "../../parts/link.tsx"
import { Loaded, Message, Panel } from "../../parts/panel.tsx"

type Points = Query<{ readonly items: readonly StatsPoint[] }>

const MINUTES = 60
const COARSE = 30

export function FailuresByJob({ query, fromMs }: { readonly query: Points; readonly fromMs: number }) {
  const steps = minutesFrom(fromMs, MINUTES)
  return (
    <Panel title="Failures by job" note="last hour">
      <Loaded query={query}>
        {({ items }) => {
          const rows = failureRows(items, steps)
          if (rows.length === 0) {
            return (
              <Message title="No attempt failed">
                <p>
                  {plural(
                    sumOf(items, ({ ends }) => ends),
                    "attempt",
                  )}{" "}
                  ended in the last hour.
                </p>
              </Message>
            )
          }
          return (
            <RankedBars
              pair
              rows={withOthers(rows, (others) => ({
                key: "others",
                label: `${others.length} others`,
                value: sumOf(others, ({ value }) => value),
                text: countText(sumOf(others, ({ value }) => value)),
              }))}
            />
          )
        }}
      </Loaded>
    </Panel>
  )
}

function failureRows(points: readonly StatsPoint[], steps: readonly number[]): readonly Ranked[] {
  return [...groupedBy(points, ({ job }) => job ?? "")]
    .map(([job, own]) => {
      const failed = own.filter(isFailure)
      const count = sumOf(failed, ({ ends }) => ends)
      const all = sumOf(own, ({ ends }) => ends)
      const perMinute = perStep(failed, steps, ({ ends }) => ends)
      return {
        key: job,
        label: (
          <Link to="runs" params={{ filter: `job:${quoted(job)} -state:succeeded` }}>
            {job}
          </Link>
        ),
        value: count,
        text: countText(count),
        more: shareText(count, all),
        picture: (
          <SparkBars
            values={halved(perMinute)}
            finding={`${countText(count)} failures of ${job} in the last hour`}
          />
        ),
      }
    })
    .filter(({ value }) => value > 0)
    .toSorted((a, b) => b.value - a.value)
}

/** Two minutes as one bar, where there is little room. */
function halved(values: readonly number[]): readonly number[] {
  return Array.from({ length: COARSE }, (_, index) => (values[index * 2] ?? 0) + (values[index * 2 + 1] ?? 0))
}

export function RetriesByTenant({ query }: { readonly query: Points }) {
  return (
    <Panel title="Retries by tenant" note="last 15 min">
      <Loaded query={query}>
        {({ items }) => {
          const rows = [
            ...groupedBy(items, ({ tenant, isOtherTenants }) => (isOtherTenants ? "others" : (tenant ?? ""))),
          ]
            .map(([tenant, own]): Ranked => {
              const retries = sumOf(own, (point) => point.retries)
              const isNamed = tenant !== "" && !own.some(({ isOtherTenants }) => isOtherTenants)
              return {
                key: tenant,
                label: isNamed ? (
                  <Link to="runs" params={{ filter: `tenant:${quoted(tenant)} attempt>1` }}>
                    {tenant}
                  </Link>
                ) : (
                  <span class="dim">{tenant === "" ? "no tenant" : "others"}</span>
                ),
                value: retries,
                text: countText(retries),
              }
            })
            .filter(({ value }) => value > 0)
            .toSorted((a, b) => b.value - a.value)
          if (rows.length === 0) {
            return (
              <Message title="No retries">
                <p>Nothing was tried again in the last 15 minutes.</p>
              </Message>
            )
          }
          return (
            <RankedBars
              rows={withOthers(rows, (others) => ({
                key: "the rest",
                label: `${others.length} others`,
                value: sumOf(others, ({ value }) => value),
                text: countText(sumOf(others, ({ value }) => value)),
              }))}
            />
          )
        }}
      </Loaded>
    </Panel>
  )
}

export function LeaseExpirations({ query, fromMs }: { readonly query: Points; readonly fromMs: number }) {
  const { zone } = useDashboard()
  const steps = minutesFrom(fromMs, MINUTES)
  return (
    <Panel title="Lease expirations" note="last hour">
      <Loaded query={query}>
        {({ items }) => {
          const lost = items.filter(({ outcome }) => outcome === "lost")
          const perMinute = perStep(lost, steps, ({ ends }) => ends)
          const count = sumOf(perMinute, (value) => value)
          const worst = [...groupedBy(lost, ({ job }) => job ?? "")]
            .map(([job, own]) => ({ job, count: sumOf(own, ({ ends }) => ends) }))
            .toSorted((a, b) => b.count - a.count)
          const finding =
            count === 0
              ? "No attempt was lost in the last hour"
              : `${countText(count)} attempts were lost in the last hour`
          return (
            <>
              <div class="tall-spark">
                <SparkBars values={perMinute} finding={finding} tone="warning" height={72} />
                {count === 0 && <span class="chart-finding">none in the last hour</span>}
              </div>
              <p class="line small dim spread">
                <span>{minuteText(steps[0] ?? 0, zone.value)}</span>
                <span>{minuteText(steps.at(-1) ?? 0, zone.value)}</span>
              </p>
              <p class="panel-foot">
                <b>{countText(count)}</b> lost and taken back
                {worst.slice(0, 2).map(({ job, count: of }) => (
                  <span key={job} class="dim">
                    {" "}
                    · {countText(of)} of {job}
                  </span>
                ))}
              </p>
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}

const MOST_GROUPS = 4

export function DeadLettersPanel({ query }: { readonly query: Query<Page<DeadLetterGroup>> }) {
  const open = (query.data?.items ?? [])
    .filter(({ state }) => state === "open" || state === "regressed")
    .toSorted((a, b) => b.count - a.count)
  const count = sumOf(open, (group) => group.count)
  const capped = open.some((group) => group.capped) || query.data?.nextCursor !== undefined
  const note = query.data && `${cappedText({ count, capped })} open, ${plural(open.length, "group")}`
  return (
    <Panel title="Dead letters" note={note}>
      <Loaded query={query}>
        {() =>
          open.length === 0 ? (
            <Message title="No dead letters">
              <p>A run that fails for good waits here until someone replays or discards it.</p>
            </Message>
          ) : (
            <ol class="dead-groups">
              {open
                .slice(0, MOST_GROUPS)
                .map(({ job, fingerprint, sample, count: own, capped: more, state }) => (
                  <li key={`${job}${fingerprint}`}>
                    <Link to="dead-letters" params={{ job, fingerprint }} class="grow">
                      <code class="cut">{sample?.message ?? fingerprint}</code>
                      <small class="cut dim">
                        {job}
                        {state === "regressed" && " · regressed"}
                      </small>
                    </Link>
                    <b class="dead">{cappedText({ count: own, capped: more })}</b>
                  </li>
                ))}
            </ol>
          )
        }
      </Loaded>
    </Panel>
  )
}
