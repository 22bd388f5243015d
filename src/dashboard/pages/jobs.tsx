/** Jobs: what the code declares, and where each setting comes from. */

import { useState } from "preact/hooks"
import { withParams } from "../app/api.ts"
import { quoted } from "../app/filter-text.ts"
import { plural } from "../app/numbers.ts"
import type { Job, Page } from "../app/records.ts"
import { useQuery } from "../app/use-query.ts"
import { JOB_SNIPPETS } from "../parts/first-snippets.ts"
import { Instant } from "../parts/instant.tsx"
import { JsonView } from "../parts/json-view.tsx"
import { Link } from "../parts/link.tsx"
import { Pager, useCursors } from "../parts/pager.tsx"
import { Loaded, Message, Panel } from "../parts/panel.tsx"
import { Scroll } from "../parts/scroll.tsx"
import { Snippet } from "../parts/snippet.tsx"
import { PauseButton } from "./pools/pause-button.tsx"

export function JobsPage() {
  const cursors = useCursors("jobs")
  const [open, setOpen] = useState<string>()
  const query = useQuery<Page<Job>>(withParams("/jobs", { limit: 100, cursor: cursors.cursor }), {
    everyMs: 10_000,
  })
  return (
    <div class="page">
      <Panel title="Jobs" note={query.data && plural(query.data.items.length, "job")} lined flush>
        <Loaded query={query} rows={8}>
          {({ items, nextCursor }) =>
            items.length === 0 ? (
              <NoJobs />
            ) : (
              <>
                <Scroll>
                  <table class="table">
                    <thead>
                      <tr>
                        <th>Job</th>
                        <th>Pool</th>
                        <th class="num">Priority</th>
                        <th class="num">Attempts</th>
                        <th class="num">Timeout</th>
                        <th class="num">At once</th>
                        <th>History</th>
                        <th>Input</th>
                        <th>Version</th>
                        <th>Declared</th>
                        <th class="num">
                          <span class="unseen">Actions</span>
                        </th>
                      </tr>
                    </thead>
                    <tbody>
                      {items.map((job) => (
                        <JobRows
                          key={job.name}
                          job={job}
                          isOpen={open === job.name}
                          onToggle={() => setOpen(open === job.name ? undefined : job.name)}
                          onChanged={query.refresh}
                        />
                      ))}
                    </tbody>
                  </table>
                </Scroll>
                <div class="list-foot">
                  <span>By name. A bright value is set in code, a dim one is the default.</span>
                  <Pager cursors={cursors} nextCursor={nextCursor} newer="Back" older="Next" />
                </div>
              </>
            )
          }
        </Loaded>
      </Panel>
    </div>
  )
}

interface JobRowsProps {
  readonly job: Job
  readonly isOpen: boolean
  readonly onToggle: () => void
  readonly onChanged: () => void
}

function JobRows({ job, isOpen, onToggle, onChanged }: JobRowsProps) {
  const { name, settings, hasSchema, inputSchema, version, declaredAt, paused } = job
  return (
    <>
      <tr class={paused ? "off" : undefined}>
        <td>
          <Link to="runs" params={{ filter: `job:${quoted(name)}` }} class="name">
            {name}
          </Link>
          {paused && (
            <span class="badge badge-line" title={paused.reason}>
              paused{paused.actor === "" ? "" : ` by ${paused.actor}`}
            </span>
          )}
        </td>
        <Setting setting={settings["pool"]} />
        <Setting setting={settings["priority"]} isNumber />
        <Setting setting={attemptsOf(settings["retry"])} isNumber />
        <Setting setting={settings["timeout"]} isNumber />
        <Setting setting={settings["concurrency"]} isNumber />
        <Setting setting={settings["history"]} />
        <td>
          <button type="button" class="link" aria-expanded={isOpen} onClick={onToggle}>
            {inputSchema ? "Schema" : hasSchema ? "Checked" : "Any JSON"}
          </button>
        </td>
        <td class="mono">{version ?? <span class="dim">–</span>}</td>
        <td class="soft">
          <Instant at={declaredAt} as="distance" />
        </td>
        <td class="num">
          <PauseButton kind="job" name={name} paused={paused} onChanged={onChanged} />
        </td>
      </tr>
      {isOpen && (
        <tr class="unfolded">
          <td colSpan={11}>
            <div class="two">
              <Panel title="Settings" flush>
                <JsonView
                  label="Settings"
                  value={Object.fromEntries(
                    Object.entries(settings).map(([key, setting]) => [key, setting.value ?? null]),
                  )}
                />
              </Panel>
              <Panel title="Input" flush>
                {inputSchema ? (
                  <JsonView label="Schema of the input" value={inputSchema} />
                ) : (
                  <Message title={hasSchema ? "Its schema cannot be shown" : "It takes any JSON"}>
                    <p>
                      {hasSchema
                        ? "The library of the schema does not write JSON Schema."
                        : "A job with an `input` schema refuses wrong inputs when a run is enqueued."}
                    </p>
                  </Message>
                )}
              </Panel>
            </div>
          </td>
        </tr>
      )}
    </>
  )
}

type JobSetting = Job["settings"][string]

function attemptsOf(retry: JobSetting | undefined): JobSetting | undefined {
  const value = retry?.value
  const attempts =
    typeof value === "object" && value !== null && "attempts" in value ? value.attempts : undefined
  return retry && { ...retry, value: attempts }
}

function Setting({
  setting,
  isNumber = false,
}: {
  readonly setting: JobSetting | undefined
  readonly isNumber?: boolean
}) {
  const value = setting?.value
  const text =
    value === undefined || value === null
      ? "–"
      : typeof value === "object"
        ? JSON.stringify(value)
        : String(value)
  const classes = [isNumber && "num", setting?.from === "code" ? undefined : "dim"].filter(Boolean).join(" ")
  return (
    <td class={classes} title={setting?.from === "code" ? "set in code" : "the default"}>
      {text}
    </td>
  )
}

function NoJobs() {
  return (
    <Message title="No jobs yet">
      <p>Define one, and start a process that has it:</p>
      <Snippet label="A first job" texts={JOB_SNIPPETS} />
    </Message>
  )
}
