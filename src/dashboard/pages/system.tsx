/** System: whether the process and its database are ready, what versions run, and where the API is. */
import { useDashboard } from "../app/dashboard.ts"
import { plural } from "../app/numbers.ts"
import type { Page, Worker } from "../app/records.ts"
import { groupedBy } from "../app/stats-sums.ts"
import { clockText } from "../app/times.ts"
import { useQuery } from "../app/use-query.ts"
import { StateMark } from "../marks/state-mark.tsx"
import { Panel } from "../parts/panel.tsx"
import { useHealth } from "./system/use-health.ts"

export function SystemPage() {
  const { session, api, nowMs, token, zone } = useDashboard()
  const live = useHealth("healthz")
  const ready = useHealth("readyz")
  const workers = useQuery<Page<Worker>>("/workers?limit=200", { everyMs: 10_000 })
  const versions = [...groupedBy(workers.data?.items ?? [], ({ version }) => version ?? "no version")]
  const { environment, version, actor, scopes } = session.value ?? {}
  const base = api.address("")
  const facts: readonly (readonly [string, string])[] = [
    ["Carillon", version ?? "–"],
    ["Environment", environment ?? "–"],
    ["You", actor ?? (token.value === undefined ? "anyone on this machine" : "a token")],
    ["Scopes", scopes?.join(", ") ?? "all"],
    ["Server time", clockText(nowMs.value, zone.value)],
    ["API", base],
  ]
  return (
    <div class="page">
      <div class="two">
        <Panel title="Health" lined flush>
          <ul class="checks">
            <Check well={live.well} title="The process answers." evidence={live.evidence} />
            <Check
              well={ready.well}
              title="The database answers, and has the schema of this version."
              evidence={ready.evidence}
            />
            <Check
              well={workers.data === undefined ? undefined : workers.data.items.length > 0}
              title={workers.data?.items.length === 0 ? "No worker is live." : "Workers are live."}
              evidence={workers.data === undefined ? "" : `${plural(workers.data.items.length, "worker")}`}
            />
            <Check
              well={workers.data === undefined ? undefined : versions.length < 2}
              title={
                versions.length < 2
                  ? "All workers run the same version."
                  : `Workers run ${versions.length} versions.`
              }
              evidence={versions.map(([one, own]) => `${one} on ${own.length}`).join(", ")}
            />
          </ul>
        </Panel>
        <Panel title="This server" lined>
          <dl class="facts">
            {facts.map(([key, value]) => (
              <>
                <dt>{key}</dt>
                <dd>{value}</dd>
              </>
            ))}
          </dl>
        </Panel>
      </div>
    </div>
  )
}

interface CheckProps {
  /** `undefined` while it is not known. */
  readonly well: boolean | undefined
  readonly title: string
  readonly evidence: string
}

function Check({ well, title, evidence }: CheckProps) {
  return (
    <li>
      <StateMark name={well === undefined ? "waiting" : well ? "fine" : "problem"} />
      <span class="grow">{title}</span>
      <span class="dim small">{evidence}</span>
    </li>
  )
}
