/** The lines of the log about bulk operations. */
import type { CarillonEvent } from "./events.ts"
import { because, counted, type Line } from "./line.ts"

type BulkEvent = Extract<CarillonEvent, { type: `bulk.${string}` }>

export function bulkLine(event: BulkEvent): Line {
  const name = `bulk operation ${event.bulk} (${event.action})`
  switch (event.type) {
    case "bulk.started":
      return {
        level: "info",
        text: `${name} started by ${event.actor} for ${event.filter}${because(event.reason)}`,
      }
    case "bulk.paused":
    case "bulk.resumed":
    case "bulk.aborted": {
      const verb = event.type.slice("bulk.".length)
      return { level: "info", text: `${name} ${verb} by ${event.actor}${because(event.reason)}` }
    }
    case "bulk.progress":
      return { level: "debug", text: `${name}: ${progressText(event)}` }
    case "bulk.finished":
      return {
        level: event.progress.failed > 0 ? "warn" : "info",
        text: `${name} is done: ${progressText(event)}`,
      }
  }
}

function progressText({ progress }: Extract<BulkEvent, { readonly progress: object }>): string {
  const { seen, done, skipped, failed } = progress
  return `${counted(seen, "run")} seen, ${done} changed, ${skipped} skipped, ${failed} failed`
}
