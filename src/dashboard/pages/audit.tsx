/** Audit: who changed what, and why. */

import { useState } from "preact/hooks"
import { withParams } from "../app/api.ts"
import { useDashboard } from "../app/dashboard.ts"
import type { AuditEntry, Page } from "../app/records.ts"
import { useQuery } from "../app/use-query.ts"
import { Button } from "../parts/button.tsx"
import { CopyAs, shellQuoted } from "../parts/copy-as.tsx"
import { Difference } from "../parts/difference.tsx"
import { Instant } from "../parts/instant.tsx"
import { Link, shortId } from "../parts/link.tsx"
import { Pager, useCursors } from "../parts/pager.tsx"
import { Loaded, Message } from "../parts/panel.tsx"
import { Scroll } from "../parts/scroll.tsx"

const LIMIT = 50
const NAMES = ["subject", "actor", "action"] as const

export function AuditPage() {
  const { router } = useDashboard()
  const { params } = router.place.value
  const asked = Object.fromEntries(NAMES.map((name) => [name, params.get(name) ?? undefined]))
  const given = Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const question = JSON.stringify(asked)
  const cursors = useCursors(question)
  const [open, setOpen] = useState<string>()
  const query = useQuery<Page<AuditEntry>>(
    withParams("/audit", { ...asked, limit: LIMIT, cursor: cursors.cursor }),
    {
      everyMs: cursors.isFirst ? 5_000 : 0,
    },
  )
  return (
    <div class="page page-flush">
      <div class="list-head">
        <form class="filter-line" onSubmit={(event) => event.preventDefault()}>
          {NAMES.map((name) => (
            <label class="filter filter-one" key={name}>
              <span>{name}</span>
              <input
                value={asked[name] ?? ""}
                placeholder={
                  name === "subject" ? "run:0195…, pool:mail" : name === "action" ? "run.cancel" : "anyone"
                }
                onChange={(event) => router.setParam(name, event.currentTarget.value.trim())}
              />
            </label>
          ))}
          {params.size > 0 && (
            <Button tone="quiet" onPress={() => router.go("audit")}>
              Clear
            </Button>
          )}
          <CopyAs
            tongues={{
              cli: ["audit list", ...given.map(([name, text]) => `--${name} ${shellQuoted(text)}`)].join(" "),
              path: withParams("/audit", asked),
              code: `await carillon.audit.list(${question})`,
            }}
          />
        </form>
      </div>
      <Loaded query={query} rows={10}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <Message title={params.size > 0 ? "No change matches" : "Nothing has been changed yet"}>
              <p>
                Every change by a person or a token is written here, with its reason, in the transaction of
                the change.
              </p>
            </Message>
          ) : (
            <>
              <Scroll>
                <table class="table table-flush table-cards">
                  <thead>
                    <tr>
                      <th>When</th>
                      <th>Who</th>
                      <th>Action</th>
                      <th>Subject</th>
                      <th>Reason</th>
                      <th class="num">
                        <span class="unseen">Change</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((entry) => (
                      <EntryRows
                        key={entry.id}
                        entry={entry}
                        isOpen={open === entry.id}
                        onToggle={() => setOpen(open === entry.id ? undefined : entry.id)}
                      />
                    ))}
                  </tbody>
                </table>
              </Scroll>
              <div class="list-foot">
                <span>The newest first</span>
                <Pager cursors={cursors} nextCursor={nextCursor} />
              </div>
            </>
          )
        }
      </Loaded>
    </div>
  )
}

interface EntryRowsProps {
  readonly entry: AuditEntry
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function EntryRows({ entry, isOpen, onToggle }: EntryRowsProps) {
  const { at, actor, action, subject, reason, before, after } = entry
  const hasChange = before !== undefined || after !== undefined
  return (
    <>
      <tr>
        <td class="at-top-end nowrap">
          <Instant at={at} as="both" />
        </td>
        <td class="at-mid">{actor}</td>
        <td class="name at-top">{action}</td>
        <td class="at-mid-2">
          <Subject subject={subject} />
        </td>
        <td class="fill soft at-foot" title={reason}>
          {reason}
        </td>
        <td class="num at-foot-2">
          {hasChange && (
            <button type="button" class="link" aria-expanded={isOpen} onClick={onToggle}>
              {isOpen ? "Hide" : "Change"}
            </button>
          )}
        </td>
      </tr>
      {isOpen && (
        <tr class="unfolded">
          <td colSpan={6}>
            <Difference before={linesOf(before)} after={linesOf(after)} />
          </td>
        </tr>
      )}
    </>
  )
}

function linesOf(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2)
}

/** `run:0195…` leads to the run, where its page is known. */
function Subject({ subject }: { readonly subject: string }) {
  const at = subject.indexOf(":")
  const kind = subject.slice(0, at)
  const name = subject.slice(at + 1)
  if (kind === "run") {
    return (
      <Link to={`runs/${encodeURIComponent(name)}`} title={name} class="link">
        run <span class="mono">{shortId(name)}</span>
      </Link>
    )
  }
  return (
    <span class="soft">{at < 0 ? subject : `${kind} ${kind === "schedule" ? shortId(name) : name}`}</span>
  )
}
