/** Schedules: when they fire, what became of their last occurrences, and who owns them. Broken ones stand on top. */

import { withParams } from "../app/api.ts"
import { useDashboard } from "../app/dashboard.ts"
import { plural } from "../app/numbers.ts"
import type { Fire, Page, Schedule } from "../app/records.ts"
import {
  causeText,
  ownerText,
  pathOf,
  policyText,
  specText,
  tenantParams,
  wordsOf,
  zoneOf,
} from "../app/schedule-view.ts"
import { distanceText, instantText } from "../app/times.ts"
import { useQuery } from "../app/use-query.ts"
import { markOf, StateMark, stateWord } from "../marks/state-mark.tsx"
import { Strip, StripLegend } from "../parts/bars.tsx"
import { LinkChoice } from "../parts/choice.tsx"
import { CopyAs } from "../parts/copy-as.tsx"
import { scheduleSnippets } from "../parts/first-snippets.ts"
import { Link } from "../parts/link.tsx"
import { Pager, useCursors } from "../parts/pager.tsx"
import { Loaded, Message } from "../parts/panel.tsx"
import { Scroll } from "../parts/scroll.tsx"
import { Snippet } from "../parts/snippet.tsx"
import { useRows } from "../parts/use-rows.ts"
import { ScheduleMenu } from "./schedules/actions.tsx"
import { occurrencesOf } from "./schedules/occurrences.ts"

const STATES = ["active", "paused", "error", "retired", "completed"] as const
const ORDER: Readonly<Record<string, number>> = { error: 0, active: 1, paused: 2 }
const LIMIT = 100

export function SchedulesPage() {
  const { router } = useDashboard()
  const { params } = router.place.value
  const state = params.get("state") ?? ""
  const wanted = params.get("name") ?? ""
  const cursors = useCursors(state)
  const query = useQuery<Page<Schedule>>(
    withParams("/schedules", { state, limit: LIMIT, cursor: cursors.cursor }),
    { everyMs: 5_000 },
  )
  const shown = (query.data?.items ?? [])
    .filter(({ name, job }) => `${name} ${job}`.toLowerCase().includes(wanted.toLowerCase()))
    .toSorted(byUrgency)
  const rows = useRows(
    shown.map(({ id }) => id),
    (id) => {
      const schedule = shown.find((one) => one.id === id)
      if (schedule) router.go(pathOf(schedule), tenantParams(schedule))
    },
  )
  return (
    <div class="page page-flush">
      <div class="list-head">
        <div class="filter-line">
          <label class="filter">
            <span class="unseen">Filter by name or job</span>
            <input
              type="search"
              placeholder="Filter by name or job"
              value={wanted}
              onInput={(event) => router.setParam("name", event.currentTarget.value)}
            />
          </label>
          <LinkChoice
            label="States"
            options={["", ...STATES].map((one) => ({
              to: "schedules",
              params: { ...(one !== "" && { state: one }), ...(wanted !== "" && { name: wanted }) },
              text: one === "" ? "All" : one === "error" ? "Set aside" : stateWord(one),
              current: one === state,
            }))}
          />
          <CopyAs
            tongues={{
              cli: "schedule list",
              path: withParams("/schedules", { state }),
              code: `await carillon.schedules.list(${state === "" ? "" : `{ state: "${state}" }`})`,
            }}
          />
        </div>
      </div>
      <Loaded query={query} rows={10}>
        {({ items, nextCursor }) =>
          shown.length === 0 ? (
            <Nothing isEmpty={items.length === 0 && state === ""} />
          ) : (
            <>
              <Scroll>
                <table class="table table-flush table-two table-cards">
                  <thead>
                    <tr>
                      <th>Schedule, job</th>
                      <th>When, in which zone</th>
                      <th>Next</th>
                      <th>Last 30</th>
                      <th class="num">Live</th>
                      <th>Owner</th>
                      <th>Misfire, overlap</th>
                      <th class="num">
                        <span class="unseen">Actions</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {shown.map((schedule) => (
                      <Row
                        key={schedule.id}
                        schedule={schedule}
                        isFocused={rows.focused === schedule.id}
                        onChanged={query.refresh}
                      />
                    ))}
                  </tbody>
                </table>
              </Scroll>
              <div class="list-foot">
                <span>{plural(shown.length, "schedule")}</span>
                <StripLegend />
                <Pager cursors={cursors} nextCursor={nextCursor} newer="Back" older="Next" />
              </div>
            </>
          )
        }
      </Loaded>
    </div>
  )
}

function byUrgency(a: Schedule, b: Schedule): number {
  const order = (ORDER[a.state] ?? 3) - (ORDER[b.state] ?? 3)
  if (order !== 0) return order
  const due = (schedule: Schedule) =>
    schedule.next ? Date.parse(schedule.next.due) : Number.POSITIVE_INFINITY
  return due(a) - due(b) || a.name.localeCompare(b.name)
}

interface RowProps {
  readonly schedule: Schedule
  readonly isFocused: boolean
  readonly onChanged: () => void
}

function Row({ schedule, isFocused, onChanged }: RowProps) {
  const { name, job, spec, state, live, tenant } = schedule
  const { owner, detail } = ownerText(schedule)
  const zone = zoneOf(spec)
  const isOff = state !== "active" && state !== "error"
  return (
    <tr data-row={schedule.id} data-focus={isFocused} class={isOff ? "off" : undefined}>
      <td class="at-top">
        <Link to={pathOf(schedule)} params={tenantParams(schedule)} class="name">
          {name}
        </Link>
        {tenant !== undefined && <span class="badge badge-line">{tenant}</span>}
        <span class="second">{job}</span>
      </td>
      <td class="at-foot">
        {wordsOf(schedule)}
        <span class="second">
          <code>{specText(spec)}</code>
          {zone !== undefined && ` · ${zone}`}
        </span>
      </td>
      <td class="at-top-end">
        <Next schedule={schedule} />
      </td>
      <td class="at-foot-2">
        <LastThirty schedule={schedule} />
      </td>
      <td class="num wide-only">{live === 0 ? <span class="dim">0</span> : live}</td>
      <td class="wide-only">
        {owner}
        <span class="second">{detail}</span>
      </td>
      <td class="wide-only">
        {policyText(schedule, "misfire")}
        <span class="second">{policyText(schedule, "overlap")}</span>
      </td>
      <td class="num wide-only">
        <ScheduleMenu schedule={schedule} onChanged={onChanged} />
      </td>
    </tr>
  )
}

function Next({ schedule }: { readonly schedule: Schedule }) {
  const { nowMs, zone } = useDashboard()
  const { state, next, cause, resumeAt } = schedule
  if (state === "active" && next) {
    const at = Date.parse(next.due)
    return (
      <>
        {distanceText(at, nowMs.value)}
        <span class="second">{instantText(at, zone.value, nowMs.value)}</span>
      </>
    )
  }
  if (state === "active") return <span class="dim">after its run ends</span>
  return (
    <>
      <span class="state">
        <StateMark name={markOf(state)} />
        {state === "error" ? "Set aside" : stateWord(state)}
      </span>
      <span class="second" title={causeText(cause)}>
        {resumeAt === undefined
          ? causeText(cause)
          : `until ${instantText(Date.parse(resumeAt), zone.value, nowMs.value)}`}
      </span>
    </>
  )
}

function LastThirty({ schedule }: { readonly schedule: Schedule }) {
  const fires = useQuery<Page<Fire>>(
    withParams(`/schedules/${encodeURIComponent(schedule.name)}/fires`, {
      limit: 30,
      tenant: schedule.tenant,
    }),
    {
      everyMs: 30_000,
    },
  )
  return <Strip occurrences={occurrencesOf(fires.data?.items ?? [])} />
}

function Nothing({ isEmpty }: { readonly isEmpty: boolean }) {
  const { api } = useDashboard()
  if (!isEmpty) return <Message title="No schedule matches" />
  return (
    <Message title="No schedules yet">
      <p>Declare one beside its job, and start the process:</p>
      <Snippet label="Ways to make a schedule" texts={scheduleSnippets(api.address(""))} />
    </Message>
  )
}
