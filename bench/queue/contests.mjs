/** The parts in which contenders take turns. */
import { part as both } from "./both.mjs"
import { part as bulk } from "./bulk.mjs"
import { part as drain, sleepPart as sleep } from "./drain.mjs"
import { part as latency } from "./latency.mjs"
import { part as single } from "./single.mjs"

export const CONTESTS = { bulk, single, drain, sleep, both, latency }
