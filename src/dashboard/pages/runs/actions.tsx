/** The bar of actions on selected runs. */
import { useState } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import { countText, plural } from "../../app/numbers.ts"
import { problemOf } from "../../app/problem.ts"
import type { Run } from "../../app/records.ts"
import { State } from "../../marks/state-mark.tsx"
import { Button, IconButton } from "../../parts/button.tsx"
import { AskDialog } from "../../parts/dialog.tsx"

interface RunActionsProps {
  readonly ids: readonly string[]
  readonly runs: readonly Run[]
  readonly onDone: () => void
  readonly onChanged: () => void
}

/** Up to this many need no typed word. */
const FEW = 10
const LIVE = ["waiting", "parked", "ready", "running"]

export function RunActions({ ids, runs, onDone, onChanged }: RunActionsProps) {
  const { api, say, refusal } = useDashboard()
  const [asking, setAsking] = useState<"cancel" | "expedite" | "replay">()
  const chosen = runs.filter(({ id }) => ids.includes(id))
  const live = chosen.filter(({ state }) => LIVE.includes(state))
  const waiting = chosen.filter(({ state }) => state === "waiting")
  const dead = chosen.filter(({ state }) => state === "dead")
  const denied = refusal("operate")

  /** One call for each run: those that cannot be changed any more are counted, not hidden. */
  async function actOn(
    of: readonly Run[],
    path: (run: Run) => string,
    done: string,
    reason: string,
  ): Promise<boolean> {
    const answers = await Promise.allSettled(of.map((run) => api.send("POST", path(run), reasonBody(reason))))
    const failed = answers.flatMap((answer) =>
      answer.status === "rejected" ? [problemOf(answer.reason)] : [],
    )
    const count = of.length - failed.length
    if (count > 0) say({ tone: "fine", title: `${plural(count, "run")} ${done}.` })
    if (failed[0]) {
      say({
        tone: "problem",
        title: `${plural(failed.length, "run")} not changed.`,
        detail: failed[0].detail,
      })
    }
    onDone()
    onChanged()
    return true
  }

  const none = (of: readonly Run[], state: string) =>
    denied ?? (of.length === 0 ? `None of them is ${state}.` : undefined)
  return (
    <>
      <div class="bulk" role="toolbar" aria-label="Selected runs">
        <span>
          <b>{plural(ids.length, "run")}</b> selected
        </span>
        <Button icon="play" refusal={none(waiting, "waiting")} onPress={() => setAsking("expedite")}>
          Run now{" "}
          {waiting.length > 0 && waiting.length < ids.length ? `${waiting.length} of ${ids.length}` : ""}
        </Button>
        <Button icon="again" refusal={none(dead, "dead")} onPress={() => setAsking("replay")}>
          Replay {dead.length}…
        </Button>
        <Button
          icon="close"
          tone="danger"
          refusal={none(live, "unfinished")}
          onPress={() => setAsking("cancel")}
        >
          Cancel {live.length}…
        </Button>
        <IconButton icon="close" label="Clear the selection" onPress={onDone} />
      </div>
      {asking === "cancel" && (
        <AskDialog
          title={`Cancel ${plural(live.length, "run")}?`}
          body={
            <>
              <p>
                Those that run get the abort of their signal and end as cancelled. The others end at once.
                This cannot be undone.
              </p>
              <Counts runs={live} />
            </>
          }
          confirm={`Cancel ${plural(live.length, "run")}`}
          keep="Keep them"
          danger
          word={live.length > FEW ? `cancel ${live.length}` : undefined}
          onConfirm={(reason) => actOn(live, ({ id }) => `/runs/${id}/cancel`, "cancelled", reason)}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking === "expedite" && (
        <AskDialog
          title={`Make ${plural(waiting.length, "run")} due now?`}
          body={<p>They start when a slot of their pool is free. Those in back-off try again now.</p>}
          confirm={`Run ${countText(waiting.length)} now`}
          onConfirm={(reason) => actOn(waiting, ({ id }) => `/runs/${id}/expedite`, "made due now", reason)}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking === "replay" && (
        <AskDialog
          title={`Replay ${plural(dead.length, "dead letter")}?`}
          body={<p>Each keeps its id and its idempotency key, and starts again with all its attempts.</p>}
          confirm={`Replay ${countText(dead.length)}`}
          word={dead.length > FEW ? `replay ${dead.length}` : undefined}
          onConfirm={(reason) => actOn(dead, ({ id }) => `/dead-letters/${id}/replay`, "replayed", reason)}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  )
}

function Counts({ runs }: { readonly runs: readonly Run[] }) {
  return (
    <p class="line wrap">
      {LIVE.map((state) => {
        const count = runs.filter((run) => run.state === state).length
        return (
          count > 0 && (
            <span key={state} class="line">
              <State state={state} /> <b>{count}</b>
            </span>
          )
        )
      })}
    </p>
  )
}

/** An empty reason is no reason. */
export function reasonBody(reason: string): Readonly<Record<string, string>> {
  return reason === "" ? {} : { reason }
}
