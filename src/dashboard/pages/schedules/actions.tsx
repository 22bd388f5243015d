/** What can be done with a schedule: run now, skip the next, pause, resume. */
import { useState } from "preact/hooks"
import { withParams } from "../../app/api.ts"
import { useDashboard } from "../../app/dashboard.ts"
import type { Schedule } from "../../app/records.ts"
import { distanceText, instantText } from "../../app/times.ts"
import { useAction } from "../../app/use-action.ts"
import { Button } from "../../parts/button.tsx"
import { CopyAs, shellQuoted } from "../../parts/copy-as.tsx"
import { AskDialog } from "../../parts/dialog.tsx"
import { Menu } from "../../parts/menu.tsx"

type Act = "run-now" | "skip-next" | "pause" | "resume"

interface ScheduleActionsProps {
  readonly schedule: Schedule
  readonly onChanged: () => void
}

/** Why an act is not possible now. */
function refusalOf(act: Act, { state, next }: Schedule): string | undefined {
  if (act === "resume") return state === "paused" ? undefined : "It is not paused."
  if (act === "pause") return state === "active" ? undefined : `It is ${state}.`
  if (act === "skip-next") return state === "active" && next ? undefined : "It has no next fire."
  return undefined
}

/** In a row of the list. */
export function ScheduleMenu({ schedule, onChanged }: ScheduleActionsProps) {
  const { refusal } = useDashboard()
  const [asking, setAsking] = useState<Act>()
  const denied = refusal("operate")
  const isPaused = schedule.state === "paused"
  return (
    <>
      <Menu
        label={`Actions on ${schedule.name}`}
        icon="more"
        items={[
          { text: "Run now…", icon: "play", refusal: denied, onPress: () => setAsking("run-now") },
          {
            text: "Skip the next fire…",
            icon: "skip",
            refusal: denied ?? refusalOf("skip-next", schedule),
            onPress: () => setAsking("skip-next"),
          },
          isPaused
            ? { text: "Resume…", icon: "play", refusal: denied, onPress: () => setAsking("resume") }
            : {
                text: "Pause…",
                icon: "pause",
                refusal: denied ?? refusalOf("pause", schedule),
                onPress: () => setAsking("pause"),
              },
        ]}
      />
      {asking && (
        <Ask act={asking} schedule={schedule} onChanged={onChanged} onClose={() => setAsking(undefined)} />
      )}
    </>
  )
}

/** On the page of the schedule. */
export function ScheduleButtons({ schedule, onChanged }: ScheduleActionsProps) {
  const { refusal } = useDashboard()
  const [asking, setAsking] = useState<Act>()
  const denied = refusal("operate")
  const isPaused = schedule.state === "paused"
  return (
    <div class="buttons">
      <Button icon="play" refusal={denied} onPress={() => setAsking("run-now")}>
        Run now…
      </Button>
      <Button
        icon="skip"
        refusal={denied ?? refusalOf("skip-next", schedule)}
        onPress={() => setAsking("skip-next")}
      >
        Skip next…
      </Button>
      {isPaused ? (
        <Button icon="play" tone="first" refusal={denied} onPress={() => setAsking("resume")}>
          Resume…
        </Button>
      ) : (
        <Button
          icon="pause"
          refusal={denied ?? refusalOf("pause", schedule)}
          onPress={() => setAsking("pause")}
        >
          Pause…
        </Button>
      )}
      <CopyAs
        tongues={{
          cli: `schedule get ${shellQuoted(schedule.name)}`,
          path: `/schedules/${encodeURIComponent(schedule.name)}`,
          code: `await carillon.schedules.get(${JSON.stringify(schedule.name)})`,
        }}
      />
      {asking && (
        <Ask act={asking} schedule={schedule} onChanged={onChanged} onClose={() => setAsking(undefined)} />
      )}
    </div>
  )
}

interface AskProps extends ScheduleActionsProps {
  readonly act: Act
  readonly onClose: () => void
}

const ENDS: readonly (readonly [label: string, hours: number])[] = [
  ["until someone resumes it", 0],
  ["for 1 hour", 1],
  ["for 8 hours", 8],
  ["for 1 day", 24],
  ["for 7 days", 168],
]

function Ask({ act, schedule, onChanged, onClose }: AskProps) {
  const { api, say, nowMs, zone } = useDashboard()
  const [hours, setHours] = useState(0)
  const [misfire, setMisfire] = useState<"latest" | "all">("latest")
  const { name, next, tenant } = schedule
  const send = useAction(async (reason: string) => {
    const until = hours === 0 ? undefined : new Date(nowMs.peek() + hours * 3_600_000).toISOString()
    const body = {
      ...(reason !== "" && { reason }),
      ...(act === "pause" && until !== undefined && { until }),
      ...(act === "resume" && { misfire }),
    }
    const answer = await api.send<{ readonly run?: string; readonly skipped?: string } | undefined>(
      "POST",
      withParams(`/schedules/${encodeURIComponent(name)}/${act}`, { tenant }),
      body,
    )
    say(resultOf(act, name, answer))
    onChanged()
  })
  const asked = { problem: send.problem, busy: send.busy, onClose, onConfirm: send.run }
  const nextMs = next ? Date.parse(next.due) : 0
  const nextText = next
    ? `${instantText(nextMs, zone.value, nowMs.value)}, ${distanceText(nextMs, nowMs.value)}`
    : ""
  if (act === "run-now") {
    return (
      <AskDialog
        {...asked}
        title={`Run ${name} now?`}
        body={
          <p>
            It makes one run of {schedule.job} with the input of the schedule. The next fire stays where it
            is.
          </p>
        }
        confirm="Run it now"
      />
    )
  }
  if (act === "skip-next") {
    return (
      <AskDialog
        {...asked}
        title={`Skip the next fire of ${name}?`}
        body={<p>The fire of {nextText} makes no run. Those after it stay.</p>}
        confirm="Skip it"
      />
    )
  }
  if (act === "resume") {
    return (
      <AskDialog
        {...asked}
        title={`Resume ${name}?`}
        body={<p>It fires again from its next occurrence on.</p>}
        fields={
          <label class="labelled">
            Occurrences that the pause has held
            <select
              class="field"
              value={misfire}
              onChange={(event) => setMisfire(event.currentTarget.value as "latest" | "all")}
            >
              <option value="latest">make one run for all of them</option>
              <option value="all">make a run for each</option>
            </select>
          </label>
        }
        confirm="Resume it"
      />
    )
  }
  return (
    <AskDialog
      {...asked}
      title={`Pause ${name}?`}
      body={
        <p>
          Its occurrences make no run until it is resumed. {next ? `The next would be ${nextText}.` : ""} Runs
          that exist go on.
        </p>
      }
      fields={
        <label class="labelled">
          How long
          <select
            class="field"
            value={hours}
            onChange={(event) => setHours(Number(event.currentTarget.value))}
          >
            {ENDS.map(([label, value]) => (
              <option key={label} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
      }
      confirm="Pause it"
    />
  )
}

function resultOf(
  act: Act,
  name: string,
  answer: { readonly run?: string; readonly skipped?: string } | undefined,
) {
  const fine = { tone: "fine" as const }
  if (act === "pause") return { ...fine, title: `${name} is paused.` }
  if (act === "resume") return { ...fine, title: `${name} fires again.` }
  if (act === "skip-next") return { ...fine, title: `The next fire of ${name} is skipped.` }
  if (answer?.skipped !== undefined) {
    return { tone: "notice" as const, title: "It made no run.", detail: "The run before it is still active." }
  }
  return {
    ...fine,
    title: `${name} made a run.`,
    ...(answer?.run !== undefined && { link: { label: "Follow it", path: `runs/${answer.run}` } }),
  }
}
