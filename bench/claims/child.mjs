/** One measurement of claims in a process of its own. */
import { answerTo } from "../tools/processes.mjs"
import { drainBehind } from "./drain.mjs"
import { lateCommit } from "./late.mjs"

answerTo({ drainBehind, lateCommit })
