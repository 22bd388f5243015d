/** The states of runs, attempts and findings as shapes. Solid: decided or held. Outline: nothing has happened yet. */

export type MarkName =
  | "waiting"
  | "parked"
  | "ready"
  | "running"
  | "succeeded"
  | "dead"
  | "expired"
  | "cancelled"
  | "discarded"
  | "failed"
  | "lost"
  | "released"
  | "snoozed"
  | "problem"
  | "warning"
  | "notice"
  | "fine"
  | "off"

const WORDS: Readonly<Record<string, string>> = {
  timed_out: "Timed out",
  lost: "Lease lost",
  released: "Given back",
}

/** Which mark an outcome or a state of the API has. */
export function markOf(state: string): MarkName {
  if (state === "timed_out") return "failed"
  if (state === "paused" || state === "retired" || state === "completed" || state === "missed") return "off"
  if (state === "active") return "fine"
  if (state === "error") return "problem"
  return state in SHAPES ? (state as MarkName) : "notice"
}

export function stateWord(state: string): string {
  return WORDS[state] ?? state.charAt(0).toUpperCase() + state.slice(1).replaceAll("_", " ")
}

const stroke = {
  fill: "none",
  stroke: "currentColor",
  "stroke-width": 1.5,
  "stroke-linecap": "round",
} as const
/** What is cut out of a solid shape shows the surface below it. */
const cut = { fill: "none", stroke: "var(--bg-1)", "stroke-width": 1.6, "stroke-linecap": "round" } as const
const OCTAGON = "M4.6 1.3h4.8l3.3 3.3v4.8l-3.3 3.3H4.6L1.3 9.4V4.6z"

const SHAPES: Readonly<Record<MarkName, () => preact.JSX.Element>> = {
  waiting: () => (
    <>
      <circle cx="7" cy="7" r="5.2" {...stroke} />
      <path d="M7 4.3V7l1.8 1.2" {...stroke} />
    </>
  ),
  parked: () => (
    <>
      <rect x="1.5" y="1.5" width="11" height="11" rx="2.5" fill="currentColor" />
      <path d="M5.5 10.3V3.9h2a1.9 1.9 0 0 1 0 3.8h-2" {...cut} />
    </>
  ),
  ready: () => (
    <>
      <circle cx="7" cy="7" r="5.2" {...stroke} />
      <circle cx="7" cy="7" r="2" fill="currentColor" />
    </>
  ),
  running: () => (
    <>
      <circle cx="7" cy="7" r="6" fill="currentColor" />
      <path d="M5.6 4.3v5.4L9.9 7z" fill="var(--bg-1)" />
    </>
  ),
  succeeded: () => (
    <>
      <circle cx="7" cy="7" r="6" fill="currentColor" />
      <path d="M4.4 7.2l1.8 1.8 3.4-3.8" {...cut} />
    </>
  ),
  dead: () => (
    <>
      <path d={OCTAGON} fill="currentColor" />
      <path d="M5 5l4 4M9 5 5 9" {...cut} />
    </>
  ),
  expired: () => <path d="M3.5 1.8h7M3.5 12.2h7M4.3 2c0 3 5.4 7 5.4 10M9.7 2c0 3-5.4 7-5.4 10" {...stroke} />,
  cancelled: () => (
    <>
      <circle cx="7" cy="7" r="5.2" {...stroke} />
      <path d="M3.5 10.5l7-7" {...stroke} />
    </>
  ),
  discarded: () => (
    <>
      <circle cx="7" cy="7" r="5.2" {...stroke} stroke-dasharray="2 2.1" />
      <path d="M5 7h4" {...stroke} />
    </>
  ),
  failed: () => <path d="M3.5 3.5l7 7M10.5 3.5l-7 7" {...stroke} stroke-width={2} />,
  lost: () => (
    <>
      <path d="M8.5 2A5.2 5.2 0 0 1 12 8.5M5.5 12A5.2 5.2 0 0 1 2 5.5" {...stroke} />
      <path d="M5.3 5.3l3.4 3.4M8.7 5.3 5.3 8.7" {...stroke} />
    </>
  ),
  released: () => <path d="M11.5 7H3M6 3.8 2.8 7 6 10.2" {...stroke} />,
  snoozed: () => <path d="M4 3.5h6l-6 7h6" {...stroke} />,
  problem: () => (
    <>
      <path d={OCTAGON} fill="currentColor" />
      <path d="M7 4v3.4M7 9.7v.01" {...cut} />
    </>
  ),
  warning: () => (
    <>
      <path d="M7 1.5 13.3 12.5H.7z" fill="currentColor" stroke="currentColor" stroke-linejoin="round" />
      <path d="M7 5.3v3.1M7 10.5v.01" {...cut} />
    </>
  ),
  notice: () => (
    <>
      <circle cx="7" cy="7" r="5.2" {...stroke} />
      <path d="M7 6.6v3M7 4.3v.01" {...stroke} />
    </>
  ),
  fine: () => <path d="M2.8 7.5l2.7 2.7 5.7-6.4" {...stroke} stroke-width={1.8} />,
  off: () => <path d="M4.8 3.3v7.4M9.2 3.3v7.4" {...stroke} />,
}

export function StateMark({ name }: { readonly name: MarkName }) {
  return (
    <svg class={`mark is-${name}`} viewBox="0 0 14 14" aria-hidden="true" focusable="false">
      {SHAPES[name]()}
    </svg>
  )
}

/** Mark and word together. */
export function State({ state, big = false }: { readonly state: string; readonly big?: boolean }) {
  const name = markOf(state)
  return (
    <span class={big ? `state state-big is-${name}` : `state is-${name}`}>
      <StateMark name={name} />
      {stateWord(state)}
    </span>
  )
}
