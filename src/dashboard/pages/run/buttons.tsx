/** What can be done with one run. */
import { useState } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import type { Run } from "../../app/records.ts"
import { useAction } from "../../app/use-action.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { CopyAs, copyText } from "../../parts/copy-as.tsx"
import { AskDialog } from "../../parts/dialog.tsx"
import { shortId } from "../../parts/link.tsx"
import { reasonBody } from "../runs/actions.tsx"
import { EditAndReplay } from "./edit-and-replay.tsx"

type Act = "cancel" | "expedite" | "replay" | "edit" | "discard"

export function RunButtons({ run, onChanged }: { readonly run: Run; readonly onChanged: () => void }) {
  const { api, say, refusal } = useDashboard()
  const [asking, setAsking] = useState<Act>()
  const send = useAction(async (path: string, done: string, reason: string) => {
    await api.send("POST", path, reasonBody(reason))
    say({ tone: "fine", title: done })
    onChanged()
  })
  const denied = refusal("operate")
  const isLive = ["waiting", "parked", "ready", "running"].includes(run.state)
  const isDead = run.state === "dead"
  const path = `/runs/${run.id}`
  const dead = `/dead-letters/${run.id}`
  const close = () => setAsking(undefined)
  const asked = { problem: send.problem, busy: send.busy, onClose: close }
  const words = `run ${shortId(run.id)}`
  return (
    <div class="buttons">
      {(isLive || isDead) && (
        <Button
          icon={isDead ? "again" : "play"}
          tone="first"
          refusal={denied ?? (isDead || run.state === "waiting" ? undefined : `It is ${run.state} already.`)}
          onPress={() => setAsking(isDead ? "replay" : "expedite")}
        >
          {isDead ? "Replay" : "Run now"}
        </Button>
      )}
      {isDead && (
        <Button icon="edit" refusal={denied} onPress={() => setAsking("edit")}>
          Edit and replay…
        </Button>
      )}
      {isLive && (
        <Button icon="close" tone="danger" refusal={denied} onPress={() => setAsking("cancel")}>
          Cancel…
        </Button>
      )}
      {isDead && (
        <Button icon="close" tone="danger" refusal={denied} onPress={() => setAsking("discard")}>
          Discard…
        </Button>
      )}
      <CopyAs
        tongues={{
          cli: `run get ${run.id}`,
          path,
          code: `await carillon.runs.get("${run.id}")`,
        }}
      />
      <IconButton
        icon="copy"
        label="Copy the id"
        onPress={() => {
          void copyText(run.id).then(
            (copied) => copied && say({ tone: "fine", title: "Copied.", detail: run.id }),
          )
        }}
      />
      {asking === "cancel" && (
        <AskDialog
          {...asked}
          title={`Cancel ${words}?`}
          body={
            <p>
              {run.state === "running"
                ? "Its handler gets the abort of its signal, and it ends as cancelled, whatever the handler returns."
                : "It has not started, and ends at once."}{" "}
              This cannot be undone.
            </p>
          }
          confirm="Cancel the run"
          keep="Keep it"
          danger
          onConfirm={(reason) => send.run(`${path}/cancel`, "Cancelled.", reason)}
        />
      )}
      {asking === "expedite" && (
        <AskDialog
          {...asked}
          title={`Make ${words} due now?`}
          body={<p>It starts when a slot of pool {run.pool} is free.</p>}
          confirm="Run it now"
          onConfirm={(reason) => send.run(`${path}/expedite`, "It is due now.", reason)}
        />
      )}
      {asking === "replay" && (
        <AskDialog
          {...asked}
          title={`Replay ${words}?`}
          body={
            <p>
              The same run with the same idempotency key starts again, with all its attempts. Old attempts
              stay.
            </p>
          }
          confirm="Replay it"
          onConfirm={(reason) => send.run(`${dead}/replay`, "Replayed.", reason)}
        />
      )}
      {asking === "discard" && (
        <AskDialog
          {...asked}
          title={`Discard ${words}?`}
          body={<p>It stays in history as discarded, and cannot be replayed any more.</p>}
          confirm="Discard it"
          keep="Keep it"
          danger
          onConfirm={(reason) => send.run(`${dead}/discard`, "Discarded.", reason)}
        />
      )}
      {asking === "edit" && <EditAndReplay run={run} onClose={close} onChanged={onChanged} />}
    </div>
  )
}
