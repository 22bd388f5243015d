import { describe, expect, it } from "vitest"
import { OptionsError } from "../errors.ts"
import { array, assertOptions, duration, integer, name, object, oneOf, optional, record } from "./check.ts"
import { meantOption, nearest } from "./nearest.ts"

const check = object({
  name: name(20),
  timeout: optional(duration({ min: 1 })),
  retry: optional(object({ attempts: optional(integer({ min: 1, max: 100 })) })),
  pools: optional(record(name(10), integer({ min: 1, max: 9 }))),
  tags: optional(array(name(5))),
  mode: optional(oneOf("fast", "safe")),
})

describe("assertOptions", () => {
  it("lets good options through", () => {
    assertOptions(
      "x",
      { name: "a.b", timeout: "5m", retry: { attempts: 3 }, pools: { mail: 2 }, mode: "safe" },
      check,
    )
  })

  it("reports every fault at once, each with its path", () => {
    const wrong = {
      name: "",
      timeout: "5 minutes",
      retry: { attempts: 0, attemps: 3 },
      pools: { mail: 0, "bad pool": 1 },
      tags: ["ok", "much too long"],
      mode: "sfae",
    }
    const error = catchError(() => assertOptions("defineJob", wrong, check))
    expect(error).toBeInstanceOf(OptionsError)
    expect((error as OptionsError).faults.map(({ path }) => path)).toEqual([
      "name",
      "timeout",
      "retry.attemps",
      "retry.attempts",
      "pools.mail",
      'pools["bad pool"]',
      "tags[1]",
      "mode",
    ])
    expect(error).toMatchObject({ code: "OPTIONS_INVALID", message: expect.stringContaining("defineJob") })
  })

  it("answers a typing error with the option that was meant", () => {
    expect(faultsOf({ name: "a", retyr: {} })).toEqual(['unknown option; did you mean "retry"?'])
    expect(faultsOf({ name: "a", mode: "faast" })[0]).toContain('did you mean "fast"?')
  })

  it("answers what other queues call an option with what it is called here", () => {
    const hint = (key: string) => faultsOf({ name: "a", [key]: 3 })[0]
    expect(hint("retries")).toContain('did you mean "retry: { attempts }"?')
    expect(hint("attempts")).toContain('did you mean "retry: { attempts }"?')
    expect(hint("backoff")).toContain('did you mean "retry: { base }"?')
    // Only where that option is known.
    expect(hint("tz")).not.toContain("did you mean")
    expect(meantOption("tz", ["cron", "timeZone"])).toBe("timeZone")
    expect(meantOption("retries", ["attempts", "base"])).toBe("attempts")
    expect(meantOption("constructor", ["attempts"])).toBeUndefined()
  })

  it("names the known options when nothing is near", () => {
    expect(faultsOf({ name: "a", colour: 1 })[0]).toContain('use one of "name", "timeout"')
  })

  it("does not take inherited keys for options", () => {
    expect(faultsOf(JSON.parse('{"name":"a","__proto__":1,"constructor":2}'))).toHaveLength(2)
  })
})

describe("nearest", () => {
  it("counts swapped neighbours as one mistake and gives up on strangers", () => {
    expect(nearest("tiemout", ["timeout", "retry"])).toBe("timeout")
    expect(nearest("TIMEOUT", ["timeout"])).toBe("timeout")
    expect(nearest("banana", ["timeout", "retry"])).toBeUndefined()
  })
})

function faultsOf(value: unknown): string[] {
  return check(value, "").map(({ message }) => message)
}

function catchError(run: () => void): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}
