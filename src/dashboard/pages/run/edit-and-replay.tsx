/** Changes the input of a dead letter, shows the difference, and replays it. */
import { useState } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import type { Run } from "../../app/records.ts"
import { useAction } from "../../app/use-action.ts"
import { AskDialog } from "../../parts/dialog.tsx"
import { Difference } from "../../parts/difference.tsx"
import { shortId } from "../../parts/link.tsx"

interface EditAndReplayProps {
  readonly run: Run
  readonly onClose: () => void
  readonly onChanged: () => void
}

export function EditAndReplay({ run, onClose, onChanged }: EditAndReplayProps) {
  const { api, say } = useDashboard()
  const before = JSON.stringify(run.input ?? null, null, 2)
  const [text, setText] = useState(before)
  const parsed = parse(text)
  const send = useAction(async (reason: string) => {
    if ("fault" in parsed) throw new Error(parsed.fault)
    await api.send("POST", `/dead-letters/${run.id}/edit-and-replay`, {
      input: parsed.value,
      ...(reason !== "" && { reason }),
    })
    say({ tone: "fine", title: "Replayed with the new input." })
    onChanged()
  })
  return (
    <AskDialog
      title={`Edit and replay run ${shortId(run.id)}`}
      body={<p>The run keeps its id and its idempotency key. The audit keeps the old input.</p>}
      fields={
        <>
          <label class="labelled">
            Input
            <textarea
              class="field"
              rows={10}
              spellcheck={false}
              data-first
              aria-invalid={"fault" in parsed}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            {"fault" in parsed && <small class="dead">{parsed.fault}</small>}
          </label>
          {"value" in parsed && text !== before && (
            <Difference before={before} after={JSON.stringify(parsed.value, null, 2)} />
          )}
        </>
      }
      confirm="Replay with this input"
      onConfirm={(reason) => ("fault" in parsed ? Promise.resolve(false) : send.run(reason))}
      problem={send.problem}
      busy={send.busy}
      onClose={onClose}
    />
  )
}

function parse(text: string): { readonly value: unknown } | { readonly fault: string } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : ""}` }
  }
}
