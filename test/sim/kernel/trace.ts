/** The events of a simulation, line by line: kept as a hash, and as text on request. */
import { createHash } from "node:crypto"

export interface Trace {
  readonly note: (atUs: number, line: string) => void
  /** How many lines there are. */
  readonly length: () => number
  /** Of all lines so far. The same for the same seed, or something real has leaked in. */
  readonly hash: () => string
}

/** `print` gets every line as it is written. */
export function createTrace(print?: (line: string) => void): Trace {
  const hash = createHash("sha256")
  let length = 0
  let unhashed = ""
  const flush = () => {
    hash.update(unhashed)
    unhashed = ""
  }
  return {
    note: (atUs, said) => {
      const line = `${(atUs / 1_000).toFixed(3).padStart(11)} ${said}`
      length += 1
      unhashed += `${line}\n`
      if (unhashed.length > 16_384) flush()
      print?.(line)
    },
    length: () => length,
    hash: () => {
      flush()
      return hash.copy().digest("hex")
    },
  }
}
