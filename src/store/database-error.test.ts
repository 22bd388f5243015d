import { describe, expect, it } from "vitest"
import { isUncertain, translateError } from "./database-error.ts"

/** As a driver throws what the server answered. */
const answer = (fields: object) => Object.assign(new Error("could not fdatasync file"), fields)

describe("translateError", () => {
  it.each([
    ["58030", "PANIC", "fd.c"],
    ["53100", "PANIC", "fd.c"],
    ["58030", "ПАНИКА", "xlog.c"],
  ])(
    "leaves open what became of a commit that the server went down with (%s %s in %s)",
    (code, severity, file) => {
      expect(isUncertain(translateError(answer({ code, severity, file }), "runs/settle"))).toBe(true)
    },
  )

  it("knows that nothing was changed where the server goes on", () => {
    const error = translateError(answer({ code: "58030", severity: "ERROR", file: "md.c" }), "runs/settle")
    expect(error).toMatchObject({ code: "DATABASE_FULL", sqlState: "58030" })
    expect(isUncertain(error)).toBe(false)
  })
})
