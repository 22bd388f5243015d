/** Part "delayed": the same as part "snapshot" with jobs that are due a second after they are enqueued. */
import { delayedPart } from "./loads.mjs"
import { runLoads } from "./run.mjs"

export const run = (options) => runLoads(delayedPart, options)
