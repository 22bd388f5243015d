/** The error and the log lines of one attempt. */
import type { Attempt } from "../../app/records.ts"
import { lengthText } from "../../app/times.ts"
import { markOf, StateMark, stateWord } from "../../marks/state-mark.tsx"
import { Instant } from "../../parts/instant.tsx"
import { Link } from "../../parts/link.tsx"
import { Panel } from "../../parts/panel.tsx"

export function AttemptDetail({
  attempt,
  fingerprint,
}: {
  readonly attempt: Attempt
  readonly fingerprint: string | undefined
}) {
  const { error, logs } = attempt
  return (
    <Panel
      title={error ? "Error and logs" : "Logs"}
      note={
        <>
          attempt {attempt.attempt} · {attempt.worker ?? "no worker"} · <Instant at={attempt.finishedAt} />
        </>
      }
      lined
      flush
      end={
        error &&
        fingerprint !== undefined && (
          <Link to="dead-letters" params={{ job: attempt.job, fingerprint }} class="button button-small">
            Open group
          </Link>
        )
      }
    >
      {error && (
        <div class="error">
          <p class="line">
            <StateMark name={markOf(attempt.outcome)} />
            <b class="dead">{error.message === "" ? stateWord(attempt.outcome) : error.message}</b>
          </p>
          {error.code !== undefined && <p class="dim">{error.code}</p>}
          {error.stack !== undefined && <Stack text={error.stack} />}
        </div>
      )}
      {logs && logs.length > 0 && (
        <ol class="logs">
          {logs.map((line, index) =>
            "dropped" in line ? (
              <li key={`dropped${index}`} class="dim">
                <span />
                <span>{line.dropped} more lines were dropped</span>
              </li>
            ) : (
              <li key={`${line.afterMs}${index}`}>
                <span class="dim">+{lengthText(line.afterMs)}</span>
                <span>
                  {line.message}
                  {line.data !== undefined && <span class="dim"> {JSON.stringify(line.data)}</span>}
                </span>
              </li>
            ),
          )}
        </ol>
      )}
    </Panel>
  )
}

/** Frames of packages and of Node are dimmed: the first bright one is one's own. */
function Stack({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the label names what scrolls
    <pre class="code" tabIndex={0} aria-label="Stack">
      {text.split("\n").map((line, index) => (
        <span key={`${index}${line}`} class={/node:|node_modules/.test(line) ? "dim" : undefined}>
          {line}
          {"\n"}
        </span>
      ))}
    </pre>
  )
}
