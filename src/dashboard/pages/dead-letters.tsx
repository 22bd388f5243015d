/** Dead letters: groups of errors that are alike, and how to mend a group: one first, then the rest. */
import { useState } from "preact/hooks"
import { withParams } from "../app/api.ts"
import { useDashboard } from "../app/dashboard.ts"
import { cappedText, plural } from "../app/numbers.ts"
import type { DeadLetterGroup, Page } from "../app/records.ts"
import { useQuery } from "../app/use-query.ts"
import { Instant } from "../parts/instant.tsx"
import { Link } from "../parts/link.tsx"
import { Pager, useCursors } from "../parts/pager.tsx"
import { Loaded, Message } from "../parts/panel.tsx"
import { GroupDetail } from "./dead-letters/group.tsx"

const TABS = ["open", "resolved", "ignored"] as const
type Tab = (typeof TABS)[number]

export function DeadLettersPage() {
  const { router } = useDashboard()
  const { params } = router.place.value
  const tab = (params.get("tab") ?? "open") as Tab
  const job = params.get("job")
  const fingerprint = params.get("fingerprint")
  const [kept, setKept] = useState<DeadLetterGroup>()
  const cursors = useCursors("groups")
  const query = useQuery<Page<DeadLetterGroup>>(
    withParams("/dead-letters/groups", { limit: 100, cursor: cursors.cursor }),
    { everyMs: 5_000 },
  )
  return (
    <div class="page page-flush">
      <Loaded query={query} rows={8}>
        {({ items, nextCursor }) => {
          const shown = items.filter((group) => tabOf(group) === tab).toSorted((a, b) => b.count - a.count)
          const named = items.find((group) => group.job === job && group.fingerprint === fingerprint)
          // A group whose last letter is being replayed is not in the list, and its canary is still watched.
          const isKept =
            kept !== undefined && (job === null || (kept.job === job && kept.fingerprint === fingerprint))
          const listed = isKept ? items.find((group) => isSame(group, kept)) : undefined
          const chosen = isKept ? (listed ?? { ...kept, count: 0 }) : (named ?? shown[0])
          return (
            <div class="dead-grid">
              <div class="dead-list">
                <nav class="tabs" aria-label="Groups">
                  {TABS.map((one) => (
                    <Link
                      key={one}
                      to="dead-letters"
                      params={one === "open" ? {} : { tab: one }}
                      current={one === tab}
                    >
                      {one.charAt(0).toUpperCase() + one.slice(1)}
                      <span class="n">{items.filter((group) => tabOf(group) === one).length}</span>
                    </Link>
                  ))}
                </nav>
                {shown.length === 0 ? (
                  <Message
                    title={tab === "open" ? "No dead letters" : `Nothing is ${tab}`}
                    {...(tab === "open" && { mark: "succeeded" as const })}
                  >
                    <p>
                      {tab === "open"
                        ? "A run that fails for good waits here until someone replays or discards it."
                        : "A decision about a group moves it here."}
                    </p>
                  </Message>
                ) : (
                  <ul>
                    {shown.map((group) => (
                      <GroupRow
                        key={`${group.job}${group.fingerprint}`}
                        group={group}
                        tab={tab}
                        isChosen={chosen !== undefined && isSame(group, chosen)}
                      />
                    ))}
                  </ul>
                )}
                <div class="list-foot">
                  <span>A group is a job and an error without its ids, numbers and addresses.</span>
                  <Pager cursors={cursors} nextCursor={nextCursor} newer="Back" older="Next" />
                </div>
              </div>
              <div class="dead-detail">
                {chosen ? (
                  <GroupDetail
                    key={`${chosen.job}${chosen.fingerprint}`}
                    group={chosen}
                    onChanged={query.refresh}
                    onReplay={() => setKept(chosen)}
                  />
                ) : (
                  <Message title="Choose a group" />
                )}
              </div>
            </div>
          )
        }}
      </Loaded>
    </div>
  )
}

function isSame(a: DeadLetterGroup, b: DeadLetterGroup): boolean {
  return a.job === b.job && a.fingerprint === b.fingerprint
}

function tabOf({ state }: DeadLetterGroup): Tab {
  return state === "regressed" ? "open" : state
}

function GroupRow({
  group,
  tab,
  isChosen,
}: {
  readonly group: DeadLetterGroup
  readonly tab: Tab
  readonly isChosen: boolean
}) {
  const { job, fingerprint, sample, tenants, lastSeen, state, resolvedIn } = group
  const params = { job, fingerprint, ...(tab !== "open" && { tab }) }
  return (
    <li>
      <Link to="dead-letters" params={params} class="dead-row" current={isChosen}>
        <span class="line">
          <code class="cut grow">{sample?.message ?? fingerprint}</code>
          <b>{cappedText(group)}</b>
        </span>
        <span class="line small soft">
          <span class="cut">
            {job}
            {tenants.length > 0 && ` · ${plural(tenants.length, "tenant")}`}
          </span>
          {state === "regressed" && <span class="badge badge-line end">regressed</span>}
          {resolvedIn !== undefined && <span class="badge end">resolved in {resolvedIn}</span>}
        </span>
        <span class="small dim">{lastSeen !== undefined && <Instant at={lastSeen} as="distance" />}</span>
      </Link>
    </li>
  )
}
