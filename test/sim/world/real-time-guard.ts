/**
 * Keeps real time and real randomness out of a simulation: it records every use of the platform by the product.
 *
 * The test runner and PGlite may use the platform; PGlite gets a time that does not move by itself.
 */
import { sep } from "node:path"

export interface Ambient {
  /** What the product has asked for, with where. */
  readonly offences: readonly string[]
  /** Does the work of others, who may ask for what they like. */
  readonly trust: <T>(work: () => T) => T
  readonly restore: () => void
}

const PRODUCT = `${sep}src${sep}`

/** `fixedMs` is what PGlite takes for the present. */
export function guardAmbient(fixedMs: number): Ambient {
  const offences: string[] = []
  let isTrusted = false
  const { Date: RealDate, setTimeout, setInterval, setImmediate } = globalThis
  const { random } = Math

  /** Whether the product itself has asked, and where. */
  function accuse(what: string): void {
    if (isTrusted) return
    const [, , , caller = ""] = (new Error(what).stack ?? "").split("\n")
    if (caller.includes("node_modules") || !caller.includes(PRODUCT)) return
    offences.push(`${what} was asked for ${caller.trim()}`)
  }

  const now = () => {
    accuse("Date.now")
    return fixedMs
  }
  const GuardedDate = new Proxy(RealDate, {
    construct: (target, args) => {
      if (args.length === 0) accuse("new Date()")
      return Reflect.construct(target, args.length === 0 ? [fixedMs] : args)
    },
    get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
  })
  Object.assign(globalThis, {
    Date: GuardedDate,
    setTimeout: guarded("setTimeout", setTimeout),
    setInterval: guarded("setInterval", setInterval),
    setImmediate: guarded("setImmediate", setImmediate),
  })
  Math.random = guarded("Math.random", random)

  function guarded<F extends (...args: never[]) => unknown>(name: string, real: F): F {
    return Object.assign((...args: Parameters<F>) => {
      accuse(name)
      return real(...args)
    }, real) as unknown as F
  }

  return {
    offences,
    trust: (work) => {
      isTrusted = true
      try {
        return work()
      } finally {
        isTrusted = false
      }
    },
    restore: () => {
      Object.assign(globalThis, { Date: RealDate, setTimeout, setInterval, setImmediate })
      Math.random = random
    },
  }
}
