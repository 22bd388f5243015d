/** Decisions about a group: resolve, ignore, reopen, discard. */
import { useState } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import { cappedText, countText, plural } from "../../app/numbers.ts"
import type { DeadLetterGroup } from "../../app/records.ts"
import { useAction } from "../../app/use-action.ts"
import { Button } from "../../parts/button.tsx"
import { CopyAs, shellQuoted } from "../../parts/copy-as.tsx"
import { AskDialog } from "../../parts/dialog.tsx"

type Act = "resolve" | "ignore" | "reopen" | "discard"

interface GroupActionsProps {
  readonly group: DeadLetterGroup
  readonly onChanged: () => void
}

export function GroupActions({ group, onChanged }: GroupActionsProps) {
  const { api, say, refusal } = useDashboard()
  const [asking, setAsking] = useState<Act>()
  const [version, setVersion] = useState("")
  const { job, fingerprint, count, state } = group
  const denied = refusal("operate")
  const isOpen = state === "open" || state === "regressed"
  const decide = useAction(async (act: Act, done: string, reason: string) => {
    await api.send("POST", `/dead-letters/groups/${encodeURIComponent(job)}/${fingerprint}/${act}`, {
      ...(reason !== "" && { reason }),
      ...(act === "resolve" && version !== "" && { version }),
    })
    say({ tone: "fine", title: done })
    onChanged()
  })
  const discard = useAction(async (reason: string) => {
    const { discarded, more } = await api.send<{ readonly discarded: number; readonly more: boolean }>(
      "POST",
      "/dead-letters/discard",
      {
        job,
        fingerprint,
        ...(reason !== "" && { reason }),
      },
    )
    say({
      tone: "fine",
      title: `${plural(discarded, "dead letter")} discarded.`,
      ...(more && { detail: "There are more." }),
    })
    onChanged()
  })
  const asked = {
    problem: decide.problem ?? discard.problem,
    busy: decide.busy || discard.busy,
    onClose: () => setAsking(undefined),
  }
  return (
    <div class="buttons">
      {isOpen && (
        <>
          <Button icon="check" refusal={denied} onPress={() => setAsking("resolve")}>
            Resolve…
          </Button>
          <Button refusal={denied} onPress={() => setAsking("ignore")}>
            Ignore…
          </Button>
        </>
      )}
      {!isOpen && (
        <Button refusal={denied} onPress={() => setAsking("reopen")}>
          Reopen…
        </Button>
      )}
      <Button
        tone="danger"
        refusal={denied ?? (count === 0 ? "It has no dead letters." : undefined)}
        onPress={() => setAsking("discard")}
      >
        Discard {cappedText(group)}…
      </Button>
      <CopyAs
        tongues={{
          cli: `dead list --filter ${shellQuoted(`job:${job} fingerprint:${fingerprint}`)}`,
          path: `/dead-letters?job=${encodeURIComponent(job)}&fingerprint=${fingerprint}`,
          code: `await carillon.deadLetters.list({ filter: ${JSON.stringify({ job, fingerprint })} })`,
        }}
      />
      {asking === "resolve" && (
        <AskDialog
          {...asked}
          title="Resolve this group?"
          body={
            <p>
              It leaves the open groups. When a run dies of the same error again, it comes back as regressed.
            </p>
          }
          fields={
            <label class="labelled">
              Mended in version
              <input
                class="field"
                value={version}
                placeholder="optional"
                onInput={(event) => setVersion(event.currentTarget.value)}
              />
              <small>Deaths of older versions do not bring it back.</small>
            </label>
          }
          confirm="Resolve it"
          onConfirm={(reason) => decide.run("resolve", "Resolved.", reason)}
        />
      )}
      {asking === "ignore" && (
        <AskDialog
          {...asked}
          title="Ignore this group?"
          body={<p>Its dead letters stay, also those to come, but nothing calls for attention.</p>}
          confirm="Ignore it"
          onConfirm={(reason) => decide.run("ignore", "Ignored.", reason)}
        />
      )}
      {asking === "reopen" && (
        <AskDialog
          {...asked}
          title="Reopen this group?"
          body={<p>It counts among the open groups again.</p>}
          confirm="Reopen it"
          onConfirm={(reason) => decide.run("reopen", "Reopened.", reason)}
        />
      )}
      {asking === "discard" && (
        <AskDialog
          {...asked}
          title={`Discard ${plural(count, "dead letter")} of ${job}?`}
          body={<p>They stay in history as discarded, and cannot be replayed any more.</p>}
          confirm={`Discard ${countText(count)}`}
          keep="Keep them"
          danger
          word={`discard ${count}`}
          onConfirm={(reason) => discard.run(reason)}
        />
      )}
    </div>
  )
}
