/** The lines of the log about dead letters. */
import type { CarillonEvent } from "./events.ts"
import { because, counted, type Line, someOf } from "./line.ts"

type DeadLetterEvent = Extract<CarillonEvent, { type: `dead-letters.${string}` }>

export function deadLetterLine(event: DeadLetterEvent): Line {
  switch (event.type) {
    case "dead-letters.growing":
      return growthLine(event)
    case "dead-letters.replayed":
    case "dead-letters.discarded": {
      const what = `${counted(event.runs.length, "dead letter")} ${verbOf(event)}`
      return { level: "info", text: `${what} by ${event.actor}${because(event.reason)}` }
    }
    case "dead-letters.resolved":
    case "dead-letters.ignored":
    case "dead-letters.reopened":
      return {
        level: "info",
        text: `dead letters of ${event.job} with the error ${event.fingerprint} ${decisionText(event)}`,
      }
  }
}

/** The last word of the type: `replayed`. */
function verbOf({ type }: DeadLetterEvent): string {
  return type.slice("dead-letters.".length)
}

function decisionText(
  event: Extract<CarillonEvent, { type: `dead-letters.${"resolved" | "ignored" | "reopened"}` }>,
): string {
  const version =
    event.type === "dead-letters.resolved" && event.version !== null ? ` in ${event.version}` : ""
  return `${verbOf(event)}${version} by ${event.actor}${because(event.reason)}`
}

function growthLine(event: Extract<CarillonEvent, { type: "dead-letters.growing" }>): Line {
  const { state, count, withinMs, failures } = event
  const within = `within the last ${Math.round(withinMs / 60_000) || 1} min`
  const what = `${counted(count, "run")} died ${within}`
  if (state === "cleared") return { level: "info", text: `dead letters do not grow any more: ${what}` }
  const kinds = failures.map(({ job, message, count }) => `${job} (${count}): ${message.slice(0, 200)}`)
  const again = state === "lasting" ? "still growing" : "growing"
  return {
    level: "error",
    text: `dead letters are ${again}: ${what}. ${someOf(kinds, "; ")}. Replay or discard them when the cause is mended`,
  }
}
