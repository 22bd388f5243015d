// Writes docs/reference/runs.md: the state machine of a run as a diagram and as tables.
import { code, page, table } from "./markdown.mjs"

export async function renderRuns({ load, read }) {
  const { RUN_LIFE } = await load("queue/run-state")
  const steps = Object.entries(RUN_LIFE).flatMap(([from, events]) =>
    Object.entries(events).map(([event, to]) => ({ from, event, to })),
  )
  const remarks = readRemarks(await read("src/queue/run-state.ts"))
  return page(
    "# The life of a run",
    "A run is in one state at a time. Only the events below change its state, each by one guarded statement. An " +
      "event that a state does not list changes nothing.",
    `\`\`\`mermaid\n${renderDiagram(RUN_LIFE, steps)}\n\`\`\``,
    "## Events",
    table(
      ["Event", "From", "To", "Meaning"],
      [...remarks].map(([event, remark]) => {
        const own = steps.filter((step) => step.event === event)
        return [
          code(event),
          own.map(({ from }) => code(from)).join(", "),
          [...new Set(own.map(({ to }) => code(to)))].join(", "),
          remark,
        ]
      }),
    ),
    "## States",
    table(
      ["State", "Events and next states"],
      Object.entries(RUN_LIFE).map(([state, next]) => [
        code(state),
        Object.entries(next)
          .map(([event, to]) => `${code(event)} → ${code(to)}`)
          .join(", ") || "final",
      ]),
    ),
  )
}

/** The diagram. A run starts as ready, or as waiting if it is not due. Events between two states share an arrow. */
function renderDiagram(life, steps) {
  const arrows = new Map()
  for (const { from, event, to } of steps) {
    const arrow = `${from} --> ${to}`
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), event])
  }
  const ends = Object.keys(life).filter((state) => Object.keys(life[state]).length === 0)
  return [
    "stateDiagram-v2",
    "  [*] --> ready: enqueue",
    "  [*] --> waiting: enqueue for later",
    ...[...arrows].map(([arrow, events]) => `  ${arrow}: ${events.join(", ")}`),
    ...ends.map((state) => `  ${state} --> [*]`),
  ].join("\n")
}

/** The events in source order, with their comments: `| "due" // its time has come`. */
function readRemarks(text) {
  const lines = text.matchAll(/^\s*\| "(\w+)"(?: \/\/ (.+))?$/gm)
  return new Map(Array.from(lines, ([, event, remark = ""]) => [event, remark && sentence(remark)]))
}

function sentence(remark) {
  return `${remark.charAt(0).toUpperCase()}${remark.slice(1)}.`
}
