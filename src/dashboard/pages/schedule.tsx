/** One schedule: its rule in words, its next and last fires, and why some made no run. */
import { useEffect, useState } from "preact/hooks"
import { withParams } from "../app/api.ts"
import { useDashboard } from "../app/dashboard.ts"
import { isLost } from "../app/problem.ts"
import type { AuditEntry, Fire, Page, PlannedFire, Schedule } from "../app/records.ts"
import { causeText, ownerText, wordsOf, zoneOf } from "../app/schedule-view.ts"
import { distanceText, localZone } from "../app/times.ts"
import { useQuery } from "../app/use-query.ts"
import { State } from "../marks/state-mark.tsx"
import { Choice } from "../parts/choice.tsx"
import { Link } from "../parts/link.tsx"
import { Pager, useCursors } from "../parts/pager.tsx"
import { Failure, Loaded, Message, Panel, Skeletons } from "../parts/panel.tsx"
import { Changes } from "./run/changes.tsx"
import { FireLog } from "./schedule/fire-log.tsx"
import { NextFires } from "./schedule/next-fires.tsx"
import { Rule } from "./schedule/rule.tsx"
import { ScheduleButtons } from "./schedules/actions.tsx"

export function SchedulePage({ name }: { readonly name: string }) {
  const { router, scheduleZone } = useDashboard()
  const path = `/schedules/${encodeURIComponent(name)}`
  const tenant = router.place.value.params.get("tenant") ?? undefined
  const schedule = useQuery<Schedule>(withParams(path, { tenant }), { everyMs: 5_000 })
  const zone = schedule.data && zoneOf(schedule.data.spec)
  useEffect(() => {
    scheduleZone.value = zone
    return () => {
      scheduleZone.value = undefined
    }
  }, [zone, scheduleZone])
  const { data, problem } = schedule
  if (data === undefined) {
    if (problem?.status === 404) return <NoSchedule name={name} />
    return problem ? (
      <Failure problem={problem} onRetry={schedule.refresh} />
    ) : (
      <Skeletons rows={10} slow={schedule.slow} />
    )
  }
  return (
    <div class="page">
      {problem && !isLost(problem) && <Failure problem={problem} onRetry={schedule.refresh} />}
      <ScheduleHead schedule={data} onChanged={schedule.refresh} />
      <div class="schedule-grid">
        <div class="stack">
          <Rule schedule={data} onSaved={schedule.refresh} />
          <ScheduleChanges id={data.id} />
        </div>
        <div class="stack">
          <Planned schedule={data} path={path} zone={zone ?? localZone()} />
          <Fires path={path} tenant={data.tenant} zone={zone ?? localZone()} />
        </div>
      </div>
    </div>
  )
}

function ScheduleHead({
  schedule,
  onChanged,
}: {
  readonly schedule: Schedule
  readonly onChanged: () => void
}) {
  const { nowMs } = useDashboard()
  const { owner, detail } = ownerText(schedule)
  const cause = causeText(schedule.cause)
  return (
    <div class="page-head">
      <div class="line wrap">
        <h2 class="title">{schedule.name}</h2>
        <State state={schedule.state === "error" ? "error" : schedule.state} />
        <span class="soft">
          job {schedule.job}
          {schedule.next && ` · next ${distanceText(Date.parse(schedule.next.due), nowMs.value)}`}
          {cause !== "" && ` · ${cause}`}
        </span>
        <span class="badge cut">
          {owner === "code"
            ? `declared in code${detail === "" ? "" : `, ${detail}`}`
            : "made through the API"}
        </span>
      </div>
      <ScheduleButtons schedule={schedule} onChanged={onChanged} />
    </div>
  )
}

interface PlannedProps {
  readonly schedule: Schedule
  readonly path: string
  readonly zone: string
}

function Planned({ schedule, path, zone }: PlannedProps) {
  const query = useQuery<Page<PlannedFire>>(
    withParams(`${path}/planned`, { limit: 10, tenant: schedule.tenant }),
    { everyMs: 15_000 },
  )
  return (
    <Panel title="Next 10" note={wordsOf(schedule)} lined flush>
      <Loaded query={query} rows={10}>
        {({ items }) =>
          items.length === 0 ? (
            <Message title="It has no next fire">
              <p>
                {schedule.state === "active"
                  ? "The next follows from the end of its run."
                  : `The schedule is ${schedule.state}.`}
              </p>
            </Message>
          ) : (
            <NextFires fires={items} zone={zone ?? localZone()} />
          )
        }
      </Loaded>
    </Panel>
  )
}

interface FiresProps {
  readonly path: string
  readonly tenant: string | undefined
  readonly zone: string
}

function Fires({ path, tenant, zone }: FiresProps) {
  const [only, setOnly] = useState<"all" | "none">("all")
  const cursors = useCursors(path)
  const query = useQuery<Page<Fire>>(
    withParams(`${path}/fires`, { limit: 20, cursor: cursors.cursor, tenant }),
    {
      everyMs: cursors.isFirst ? 5_000 : 0,
    },
  )
  return (
    <Panel
      title="Fire log"
      note="what became of each occurrence"
      lined
      flush
      end={
        <Choice
          label="Which"
          small
          value={only}
          options={[
            ["all", "All"],
            ["none", "Made no run"],
          ]}
          onChoose={setOnly}
        />
      }
    >
      <Loaded query={query} rows={10}>
        {({ items, nextCursor }) => {
          const shown = items.filter(({ outcome }) => only === "all" || outcome !== "fired")
          return (
            <>
              {shown.length === 0 ? (
                <Message
                  title={only === "all" ? "It has not fired yet" : "Every occurrence on this page made a run"}
                />
              ) : (
                <FireLog fires={shown} zone={zone ?? localZone()} />
              )}
              <div class="list-foot">
                <span>The newest first</span>
                <Pager cursors={cursors} nextCursor={nextCursor} />
              </div>
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}

function ScheduleChanges({ id }: { readonly id: string }) {
  const { data } = useQuery<Page<AuditEntry>>(
    withParams("/audit", { subject: `schedule:${id}`, limit: 10 }),
    { everyMs: 15_000 },
  )
  return data && data.items.length > 0 ? <Changes title="Changes" entries={data.items} /> : null
}

function NoSchedule({ name }: { readonly name: string }) {
  return (
    <Message title={`There is no schedule ${name}`} mark="notice">
      <p>It may have been deleted, or have another name.</p>
      <Link to="schedules" class="button">
        All schedules
      </Link>
    </Message>
  )
}
