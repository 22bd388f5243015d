/** The lines about what operators steer: pauses, and overridden settings of jobs. */
import type { CarillonEvent } from "./events.ts"
import { because, type Line } from "./line.ts"

type SteeringEvent = Extract<
  CarillonEvent,
  { type: "pause.began" | "pause.ended" | "job.overridden" | "job.override-ended" }
>

export function steeringLine(event: SteeringEvent): Line {
  const by = `by ${event.actor}`
  const why = because(event.reason)
  switch (event.type) {
    case "pause.began":
      return { level: "warn", text: `${pausedText(event)} paused ${by}${untilText(event)}${why}` }
    case "pause.ended":
      return { level: "info", text: `${pausedText(event)} resumed ${by}${why}` }
    case "job.overridden": {
      const settings = Object.entries(event.settings).map(
        ([name, value]) => `${name} ${JSON.stringify(value)}`,
      )
      return {
        level: "warn",
        text: `job ${event.job} overridden ${by}${untilText(event)} with ${settings.join(", ")}${why}`,
      }
    }
    case "job.override-ended":
      return {
        level: "info",
        text: `job ${event.job}: ${event.settings.join(", ")} overridden no more, ${by}${why}`,
      }
  }
}

function pausedText({ kind, name }: Extract<SteeringEvent, { kind: unknown }>): string {
  return kind === "everything" ? kind : `${kind} ${name}`
}

function untilText({ until }: { readonly until: Date | null }): string {
  return until === null ? "" : ` until ${until.toISOString()}`
}
