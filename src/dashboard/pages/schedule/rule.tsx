/** The rule of a schedule, in words and as it was written. */
import type { ComponentChildren } from "preact"
import { useDashboard } from "../../app/dashboard.ts"
import { quoted } from "../../app/filter-text.ts"
import type { Schedule } from "../../app/records.ts"
import { ownerText, policyText, specText, wordsOf, zoneOf } from "../../app/schedule-view.ts"
import { Instant } from "../../parts/instant.tsx"
import { JsonView } from "../../parts/json-view.tsx"
import { Link } from "../../parts/link.tsx"
import { Panel } from "../../parts/panel.tsx"
import { offsetText } from "./offsets.ts"
import { Warnings } from "./warnings.tsx"

const FIELDS = ["minute", "hour", "day", "month", "weekday"]

interface RuleProps {
  readonly schedule: Schedule
  readonly onSaved: () => void
}

export function Rule({ schedule }: RuleProps) {
  const { nowMs } = useDashboard()
  const { spec } = schedule
  const zone = zoneOf(spec)
  const { owner, detail } = ownerText(schedule)
  const { notes } = schedule.settings
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [
      "Job",
      <Link key="job" to="runs" params={{ filter: `schedule:${quoted(schedule.name)}` }} class="link">
        {schedule.job}
      </Link>,
    ],
    ["Time zone", zone === undefined ? "UTC" : `${zone}, ${offsetText(nowMs.value, zone)}`],
    ["Misfire", policyText(schedule, "misfire")],
    ["Overlap", policyText(schedule, "overlap")],
    ["Owner", detail === "" ? owner : `${owner}, ${detail}`],
    ["Fired", `${schedule.fired} times`],
    ["Live runs", String(schedule.live)],
    ["Created", <Instant key="created" at={schedule.createdAt} as="both" />],
    ["Changed", <Instant key="changed" at={schedule.changedAt} as="both" />],
    ["Version", String(schedule.version)],
    ["Notes", typeof notes === "string" ? notes : ""],
  ]
  return (
    <>
      <Panel title="Rule" lined>
        <CronFields spec={spec} />
        <p class="answer">{wordsOf(schedule)}</p>
        <Warnings spec={spec} />
        <dl class="facts">
          {facts.map(
            ([name, value]) =>
              value !== "" && (
                <>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </>
              ),
          )}
        </dl>
      </Panel>
      <Panel title="Input" lined flush>
        <JsonView value={schedule.input} label="Input" />
      </Panel>
    </>
  )
}

/** The five fields of a cron expression, each with its name. */
export function CronFields({ spec }: { readonly spec: Schedule["spec"] }) {
  const { cron } = spec
  const fields = typeof cron === "string" ? cron.trim().split(/\s+/) : []
  if (fields.length !== FIELDS.length) return <code class="spec">{specText(spec)}</code>
  return (
    <dl class="cron">
      {fields.map((field, index) => (
        <div key={FIELDS[index]}>
          <dd>{field}</dd>
          <dt>{FIELDS[index]}</dt>
        </div>
      ))}
    </dl>
  )
}
