/** The first minute: a few steps that tick themselves off, shown while a server is new or runs its demo. */
import { useState } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import type { DeadLetterGroup, Job, Schedule, StatsPoint } from "../../app/records.ts"
import { sumOf } from "../../app/stats-sums.ts"
import { StateMark } from "../../marks/state-mark.tsx"
import { IconButton } from "../../parts/button.tsx"
import { Link } from "../../parts/link.tsx"
import { Panel } from "../../parts/panel.tsx"

interface StartHereProps {
  readonly jobs: readonly Job[] | undefined
  readonly schedules: readonly Schedule[] | undefined
  readonly groups: readonly DeadLetterGroup[] | undefined
  readonly ends: readonly StatsPoint[] | undefined
}

const STORED = "carillon.started"

export function StartHere({ jobs, schedules, groups, ends }: StartHereProps) {
  const { session } = useDashboard()
  const [closed, setClosed] = useState(localStorage.getItem(STORED) === "closed")
  const isDevelopment = session.value === undefined || session.value.environment === "development"
  if (closed || !isDevelopment || !jobs || !schedules || !groups || !ends) return null
  const succeeded = sumOf(
    ends.filter(({ outcome }) => outcome === "succeeded"),
    (point) => point.ends,
  )
  const open = groups.find(({ state }) => state === "open" || state === "regressed")
  const fired = schedules.find((schedule) => schedule.fired > 0)
  const replayed = localStorage.getItem("carillon.replayed") === "yes"
  const steps = [
    {
      done: succeeded > 0,
      text: (
        <>
          <b>A run succeeds.</b>{" "}
          <Link to="runs" class="link">
            See the runs
          </Link>
        </>
      ),
    },
    {
      done: fired !== undefined,
      text: (
        <>
          <b>A schedule fires.</b>{" "}
          <Link to={fired ? `schedules/${encodeURIComponent(fired.name)}` : "schedules"} class="link">
            {fired ? fired.name : "See the schedules"}
          </Link>
        </>
      ),
    },
    {
      done: open !== undefined || replayed,
      text: (
        <>
          <b>A run fails for good</b> and becomes a dead letter.
        </>
      ),
    },
    {
      done: replayed,
      text: (
        <>
          <b>You replay it.</b>{" "}
          {open ? (
            <Link to="dead-letters" params={{ job: open.job, fingerprint: open.fingerprint }} class="link">
              {open.job}
            </Link>
          ) : (
            <Link to="dead-letters" class="link">
              Dead letters
            </Link>
          )}
        </>
      ),
    },
  ]
  if (steps.every(({ done }) => done)) return null
  const next = steps.findIndex(({ done }) => !done)
  return (
    <Panel
      title="Start here"
      note="ticks itself off"
      class="start-here"
      end={
        <IconButton
          icon="close"
          label="Close this for good"
          small
          onPress={() => {
            localStorage.setItem(STORED, "closed")
            setClosed(true)
          }}
        />
      }
    >
      <ol>
        {steps.map(({ done, text }, index) => (
          <li key={index} class={done ? "done" : index === next ? "next" : undefined}>
            {done ? <StateMark name="fine" /> : <span class="step">{index + 1}</span>}
            <span>{text}</span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
