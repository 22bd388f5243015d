/** Replay in two steps: one as a canary, and when it has succeeded the rest, at a pace. */
import { useState } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import { countText, plural } from "../../app/numbers.ts"
import type { DeadLetterGroup, Run } from "../../app/records.ts"
import { lengthText } from "../../app/times.ts"
import { useAction } from "../../app/use-action.ts"
import { useQuery } from "../../app/use-query.ts"
import { State, StateMark } from "../../marks/state-mark.tsx"
import { Button } from "../../parts/button.tsx"
import { AskDialog } from "../../parts/dialog.tsx"
import { RunLink } from "../../parts/link.tsx"
import { Failure, Panel } from "../../parts/panel.tsx"

interface ReplayStepsProps {
  readonly group: DeadLetterGroup
  readonly letters: readonly Run[]
  readonly onChanged: () => void
  readonly onReplay: () => void
}

interface Replayed {
  readonly replayed: number
  readonly more: boolean
}

/** More than this needs a typed word. */
const FEW = 10
const RATES = ["1/s", "5/s", "20/s", "100/s"] as const

export function ReplaySteps({ group, letters, onChanged, onReplay }: ReplayStepsProps) {
  const { api, say, refusal } = useDashboard()
  const [canary, setCanary] = useState<string>()
  const [asking, setAsking] = useState<"canary" | "rest">()
  const [rate, setRate] = useState<string>(RATES[1])
  const { job, fingerprint, count } = group
  const denied = refusal("operate")
  const first = letters[0]
  const one = useAction(async (reason: string) => {
    if (!first) return
    await api.send("POST", `/dead-letters/${first.id}/replay`, reason === "" ? {} : { reason })
    localStorage.setItem("carillon.replayed", "yes")
    setCanary(first.id)
    onReplay()
    onChanged()
  })
  const rest = useAction(async (reason: string) => {
    const answer = await api.send<Replayed>("POST", "/dead-letters/replay", {
      job,
      fingerprint,
      rate,
      ...(reason !== "" && { reason }),
    })
    say({
      tone: "fine",
      title: `${plural(answer.replayed, "dead letter")} replayed.`,
      ...(answer.more && { detail: "There are more: replay again." }),
    })
    onChanged()
  })
  const watched = useQuery<Run>(canary === undefined ? undefined : `/runs/${canary}`, { everyMs: 1_500 })
  const state = watched.data?.state
  const isWell = state === "succeeded"
  const none = denied ?? (count === 0 ? "It has no dead letters." : undefined)
  return (
    <Panel
      title="Replay"
      note="The same run and idempotency key, the next generation. Old attempts stay."
      lined
      flush
    >
      <ol class="steps">
        <li>
          {isWell ? <StateMark name="succeeded" /> : <span class="step">1</span>}
          <span class="grow">
            <b>Canary.</b>{" "}
            {canary === undefined ? (
              <>
                Replay one first
                {first && (
                  <>
                    : run <RunLink id={first.id} />
                    {first.tenant !== undefined && ` of ${first.tenant}`}
                  </>
                )}
                .
              </>
            ) : (
              <>
                Run <RunLink id={canary} /> {state === undefined ? "starts" : <State state={state} />}
                {isWell &&
                  watched.data?.durationMs !== undefined &&
                  ` in ${lengthText(watched.data.durationMs)}`}
                {state === "dead" &&
                  ` of ${watched.data?.error?.message ?? "an error"}. Mend the cause first.`}
              </>
            )}
          </span>
          <Button
            icon="again"
            tone={canary === undefined ? "first" : undefined}
            refusal={none}
            onPress={() => setAsking("canary")}
          >
            {canary === undefined ? "Replay one" : "Another canary"}
          </Button>
        </li>
        <li>
          <span class="step">2</span>
          <span class="grow">
            <b>
              The{" "}
              {canary === undefined
                ? `other ${countText(Math.max(0, count - 1))}`
                : `${countText(count)} left`}
              .
            </b>{" "}
            <span class="soft">Each starts again with all its attempts.</span>
          </span>
          <label class="line small soft">
            <span>at</span>
            <select
              class="field field-short"
              value={rate}
              onChange={(event) => setRate(event.currentTarget.value)}
            >
              {RATES.map((pace) => (
                <option key={pace} value={pace}>
                  {pace.replace("/s", " a second")}
                </option>
              ))}
            </select>
          </label>
          <Button
            icon="again"
            tone={isWell ? "first" : undefined}
            refusal={none ?? (isWell ? undefined : "Replay one first, and wait until it has succeeded.")}
            onPress={() => setAsking("rest")}
          >
            Replay {countText(count)}…
          </Button>
        </li>
      </ol>
      {one.problem && <Failure problem={one.problem} />}
      {asking === "canary" && (
        <AskDialog
          title="Replay one dead letter?"
          body={<p>It starts again with the input that it had. The others wait for how it ends.</p>}
          confirm="Replay one"
          onConfirm={(reason) => one.run(reason)}
          problem={one.problem}
          busy={one.busy}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking === "rest" && (
        <AskDialog
          title={`Replay ${plural(count, "dead letter")} of ${job}?`}
          body={
            <p>
              They start at {rate.replace("/s", " a second")}. The server answers when all have been handed
              over.
            </p>
          }
          confirm={`Replay ${countText(count)}`}
          word={count > FEW ? `replay ${count}` : undefined}
          onConfirm={(reason) => rest.run(reason)}
          problem={rest.problem}
          busy={rest.busy}
          onClose={() => setAsking(undefined)}
        />
      )}
    </Panel>
  )
}
