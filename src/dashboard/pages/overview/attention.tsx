/** What needs a person: findings, or the words that nothing does. */
import { useDashboard } from "../../app/dashboard.ts"
import { type Finding, findingsOf, type Known } from "../../app/findings.ts"
import { plural } from "../../app/numbers.ts"
import { isLost, type Problem } from "../../app/problem.ts"
import { distanceText } from "../../app/times.ts"
import { StateMark } from "../../marks/state-mark.tsx"
import { Instant } from "../../parts/instant.tsx"
import { Link } from "../../parts/link.tsx"
import { Failure, Message, Panel, Skeletons } from "../../parts/panel.tsx"

const MOST = 5

interface AttentionProps {
  readonly known: Known
  readonly problem: Problem | undefined
  readonly ready: boolean
}

export function Attention({ known, problem, ready }: AttentionProps) {
  const findings = findingsOf(known)
  return (
    <Panel title="Needs attention" note={ready ? sumText(findings) : ""} lined flush class="attention">
      {problem && !isLost(problem) && <Failure problem={problem} />}
      {!ready && !problem && <Skeletons rows={5} />}
      {ready && findings.length === 0 && <AllWell known={known} />}
      <ul class="findings">
        {findings.slice(0, MOST).map((finding, index) => (
          <FindingRow key={finding.id} finding={finding} isFirst={index === 0 && finding.tone !== "notice"} />
        ))}
      </ul>
      {findings.length > MOST && (
        <p class="findings-more">{plural(findings.length - MOST, "more finding")}</p>
      )}
    </Panel>
  )
}

function FindingRow({ finding, isFirst }: { readonly finding: Finding; readonly isFirst: boolean }) {
  const { tone, before, subject, after, evidence, since, action } = finding
  return (
    <li>
      <StateMark name={tone} />
      <div class="grow">
        <p class="cut">
          {before}
          <b>{subject}</b>
          {after}
        </p>
        <p class="cut evidence" title={evidence}>
          {evidence}
        </p>
      </div>
      <span class="dim small nowrap finding-since">
        {since !== undefined && (
          <>
            since <Instant at={since} />
          </>
        )}
      </span>
      <Link
        to={action.to}
        {...(action.params && { params: action.params })}
        class={isFirst ? "button button-first" : "button"}
      >
        {action.label}
      </Link>
    </li>
  )
}

function sumText(findings: readonly Finding[]): string {
  const count = (tone: Finding["tone"]) => findings.filter((finding) => finding.tone === tone).length
  const parts = [
    count("problem") > 0 && `${count("problem")} urgent`,
    count("warning") > 0 && plural(count("warning"), "warning"),
    count("notice") > 0 && plural(count("notice"), "notice"),
  ]
  return parts.filter(Boolean).join(", ")
}

function AllWell({ known }: { readonly known: Known }) {
  const { nowMs } = useDashboard()
  const next = (known.schedules ?? [])
    .flatMap(({ name, next: coming, state }) =>
      coming && state === "active" ? [{ name, at: Date.parse(coming.due) }] : [],
    )
    .toSorted((a, b) => a.at - b.at)[0]
  return (
    <Message title="Nothing needs attention" mark="succeeded">
      <p>
        Every pool with work has a worker, nothing waits long, and no dead letter is open.
        {next && ` The next fire is ${next.name} ${distanceText(next.at, nowMs.value)}.`}
      </p>
    </Message>
  )
}
