// Counts the calls by which this process changes files, and kills it at one of them: moments that no clock can hit.
// Half of the last write is still made, as when the kill meets a write in the kernel.
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"

const SYNC = ["openSync", "writeSync", "ftruncateSync", "renameSync", "unlinkSync", "mkdirSync", "chmodSync"]
const ASYNC = ["writeFile", "link", "rename", "rm", "mkdir"]

/** Returns how many calls there were so far. */
export function killAtCall(number) {
  let calls = 0
  const count = (target, name) => {
    const original = target[name]
    target[name] = (...args) => {
      calls += 1
      if (calls === number) {
        if (name === "writeSync") original(args[0], args[1], args[2], args[3] >> 1, args[4])
        process.kill(process.pid, "SIGKILL")
      }
      return original.apply(target, args)
    }
  }
  for (const name of SYNC) count(fs, name)
  for (const name of ASYNC) count(fs.promises, name)
  syncBuiltinESMExports()
  return () => calls
}
