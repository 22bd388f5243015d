/** A titled part of a page, and what it shows while it has nothing, loads, or has failed. */
import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import type { Problem } from "../app/problem.ts"
import { isLost } from "../app/problem.ts"
import type { Query } from "../app/use-query.ts"
import { type MarkName, StateMark } from "../marks/state-mark.tsx"
import { Button } from "./button.tsx"

interface PanelProps {
  readonly title: string
  readonly note?: ComponentChildren
  readonly end?: ComponentChildren
  readonly lined?: boolean
  /** The content reaches the edges, as tables do. */
  readonly flush?: boolean
  readonly class?: string
  readonly children?: ComponentChildren
}

export function Panel({ title, note, end, lined, flush, class: className, children }: PanelProps) {
  const id = useId()
  const classes = ["panel", lined && "panel-lined", className].filter(Boolean).join(" ")
  return (
    <section class={classes} aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        {note !== undefined && <span class="note">{note}</span>}
        {end !== undefined && <span class="end line">{end}</span>}
      </div>
      {flush ? children : <div class="panel-body">{children}</div>}
    </section>
  )
}

interface MessageProps {
  readonly title: string
  readonly mark?: MarkName
  readonly children?: ComponentChildren
}

/** Says why there is nothing to see, and what to do. */
export function Message({ title, mark, children }: MessageProps) {
  return (
    <div class="message">
      {mark && <StateMark name={mark} />}
      <h3>{title}</h3>
      {children}
    </div>
  )
}

export function Skeletons({ rows = 6, slow = false }: { readonly rows?: number; readonly slow?: boolean }) {
  return (
    <div class="skeletons" aria-busy="true">
      <span class="unseen">Reading</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row}>
          <i />
          <i />
          <i />
        </div>
      ))}
      {slow && <p class="message">Still reading. Narrow by job or time to make it faster.</p>}
    </div>
  )
}

export function Failure({ problem, onRetry }: { readonly problem: Problem; readonly onRetry?: () => void }) {
  // Where there is one fault only, the sentence has told it.
  const details = (problem.errors ?? []).filter(({ message }) => !problem.detail.includes(message))
  return (
    <div class="failure" role="alert">
      <StateMark name="problem" />
      <div>
        <b>{problem.detail}</b>
        {details.map(({ pointer, message }) => (
          <span key={`${pointer}${message}`}>
            {pointer !== undefined && pointer !== "" && <code>{pointer} </code>}
            {message}
          </span>
        ))}
        {problem.hint !== undefined && <span class="soft">{problem.hint}</span>}
        <span class="dim">
          {problem.code}
          {problem.requestId !== undefined && ` · request ${problem.requestId}`}
        </span>
        {onRetry && (
          <span>
            <Button small onPress={onRetry}>
              Try again
            </Button>
          </span>
        )}
      </div>
    </div>
  )
}

interface LoadedProps<T> {
  readonly query: Query<T>
  readonly rows?: number
  readonly children: (data: T) => ComponentChildren
}

/** The data of a query; until it is there, rows of its height; if it failed, why. */
export function Loaded<T>({ query, rows, children }: LoadedProps<T>) {
  const { data, problem } = query
  return (
    <>
      {problem && !(isLost(problem) && data !== undefined) && (
        <Failure problem={problem} onRetry={query.refresh} />
      )}
      {data !== undefined && children(data)}
      {data === undefined &&
        !problem &&
        (query.waiting ? (
          <Skeletons {...(rows !== undefined && { rows })} slow={query.slow} />
        ) : (
          <div class="skeletons" />
        ))}
    </>
  )
}
