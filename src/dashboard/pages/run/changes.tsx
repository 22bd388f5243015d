/** Who changed a run, from the audit. */
import { withParams } from "../../app/api.ts"
import type { AuditEntry, Page } from "../../app/records.ts"
import { useQuery } from "../../app/use-query.ts"
import { Instant } from "../../parts/instant.tsx"
import { Panel } from "../../parts/panel.tsx"

export function RunChanges({ id }: { readonly id: string }) {
  const { data } = useQuery<Page<AuditEntry>>(withParams("/audit", { subject: `run:${id}`, limit: 20 }), {
    everyMs: 10_000,
  })
  if (!data || data.items.length === 0) return null
  return <Changes title="Changes" entries={data.items} />
}

export function Changes({
  title,
  entries,
}: {
  readonly title: string
  readonly entries: readonly AuditEntry[]
}) {
  return (
    <Panel title={title} note={String(entries.length)}>
      <ol class="changes">
        {entries.map(({ id, at, actor, action, reason }) => (
          <li key={id}>
            <Instant at={at} />
            <span>
              <b>{action}</b> by {actor}
              {reason !== "" && <span class="dim"> “{reason}”</span>}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
