import { describe, expect, it } from "vitest"
import { partsOf, quoted, termsOf, textOf } from "./filter-text.ts"

describe("a filter on the page", () => {
  it("comes apart at spaces outside of quotes, and goes together again", () => {
    const text = 'state:dead tenant:"a b" -job:"x\\" y" due<-1h'
    expect(termsOf(text)).toEqual(["state:dead", 'tenant:"a b"', '-job:"x\\" y"', "due<-1h"])
    expect(textOf(termsOf(text))).toBe(text)
  })

  it("tells the name of a field from its value", () => {
    expect(partsOf("job:invoice.*")).toEqual({ field: "job:", value: "invoice.*" })
    expect(partsOf("-due>=2026-03-01")).toEqual({ field: "-due>=", value: "2026-03-01" })
    expect(partsOf("jo")).toEqual({ field: "", value: "jo" })
  })

  it("quotes a word that would be taken apart", () => {
    expect(quoted("email.send")).toBe("email.send")
    expect(quoted('a "b"')).toBe('"a \\"b\\""')
    expect(quoted("a,b")).toBe('"a,b"')
  })
})
