/** Pauses and resumes a job or a pool. */
import { useState } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import type { Pool } from "../../app/records.ts"
import { useAction } from "../../app/use-action.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { AskDialog } from "../../parts/dialog.tsx"
import { reasonBody } from "../runs/actions.tsx"

interface PauseButtonProps {
  readonly kind: "job" | "pool"
  readonly name: string
  readonly paused: Pool["paused"]
  readonly onChanged: () => void
}

export function PauseButton({ kind, name, paused, onChanged }: PauseButtonProps) {
  const { api, say, refusal } = useDashboard()
  const [asking, setAsking] = useState(false)
  const act = paused ? "resume" : "pause"
  const send = useAction(async (reason: string) => {
    await api.send("POST", `/${kind}s/${encodeURIComponent(name)}/${act}`, reasonBody(reason))
    say({ tone: "fine", title: paused ? `${name} goes on.` : `${name} is paused.` })
    onChanged()
  })
  const denied = refusal("operate")
  const word = kind === "job" ? "Job" : "Pool"
  return (
    <>
      {paused ? (
        <Button small icon="play" refusal={denied} onPress={() => setAsking(true)}>
          Resume…
        </Button>
      ) : (
        <IconButton
          icon="pause"
          label={`Pause ${kind} ${name}…`}
          small
          refusal={denied}
          onPress={() => setAsking(true)}
        />
      )}
      {asking && (
        <AskDialog
          title={paused ? `Resume ${kind} ${name}?` : `Pause ${kind} ${name}?`}
          body={
            <p>
              {paused
                ? `${word} ${name} is claimed from again at once. What has waited starts as slots get free.`
                : `No run of ${kind} ${name} starts until it is resumed. Runs that are running go on. New runs wait.`}
            </p>
          }
          confirm={paused ? "Resume it" : "Pause it"}
          onConfirm={(reason) => send.run(reason)}
          problem={send.problem}
          busy={send.busy}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
