import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { filters, NOW, objects, runs } from "../../test/support/filter-arbitraries.ts"
import { FilterError } from "../errors.ts"
import { FIELD_NAMES, type FilteredRun, fieldOf } from "./fields.ts"
import { matches } from "./matches.ts"
import { readFilter } from "./object.ts"
import { parseFilter } from "./parse.ts"
import { printFilter } from "./print.ts"
import type { RunFilter } from "./run-filter.ts"

const run: FilteredRun = {
  id: "0195507f-1c00-7000-8000-000000000001",
  state: "running",
  job: "invoice.send",
  pool: "mail",
  priority: 5,
  attempt: 2,
  enqueuedAt: new Date("2026-03-01T11:00Z"),
  dueAt: new Date("2026-03-01T11:30Z"),
  tags: ["eu", "big one"],
  input: {
    customer: { id: 42, "full name": "Ada L." },
    lines: [{ sku: "A-1" }, { sku: "B-2" }],
    paid: true,
    note: null,
  },
}

describe("a filter", () => {
  it.each([
    ["", true],
    ["state:ready,running job:invoice.* pool:mail priority>0", true],
    ["state:ready,waiting", false],
    ["-state:ready job:invoice.*", true],
    ["tag:eu tag:big*", true],
    ['tag:"big one"', true],
    ["tag:us", false],
    ['job:"invoice.*"', false],
    ["priority=5,6 priority>=5 priority<=5 -priority>5", true],
    ["priority<5", false],
    ["enqueued>-1h", false],
    ["enqueued>=-1h due<now due<+1h due<2026-03-01T12:30+01:00", false],
    ["enqueued>=-1h due<now due<+1h due<2026-03-01T12:31+01:00", true],
    ["enqueued>=2026-03-01", true],
    ["ID:x", undefined],
    ["input.customer.id=42", true],
    ["input.customer.id:41,42", true],
    ["input.customer.id>41 input.customer.id<=42", true],
    ['input.customer."full name"=Ada*', true],
    ["input.lines.1.sku=B-2 input.lines.-1.sku=B-2", true],
    ["input.paid=true", true],
    ["input.note=*", false],
    ["input.customer=*", false],
    ["-input.customer.zip=*", true],
  ] as const)("%s", (text, answer) => {
    if (answer === undefined) expect(() => parseFilter(text)).toThrow(FilterError)
    else expect(matches(parseFilter(text), run, NOW)).toBe(answer)
  })

  it("holds for a run that lacks the field only if it is negated", () => {
    const texts = ["tenant:acme", "tenant:*", "finished>-1h", "duration<5s", "error:X", "worker:host-3"]
    expect(texts.map((text) => matches(parseFilter(text), run, NOW))).toEqual(texts.map(() => false))
    expect(texts.map((text) => matches(parseFilter(`-${text}`), run, NOW))).toEqual(texts.map(() => true))
  })

  it("is written in one way, whatever the order it was said in", () => {
    const text =
      'tag:b,a,b   priority:2  -finished>-60m state:ready input."customer".id:42 duration>=90s state:ready'
    expect(printFilter(parseFilter(text))).toBe(
      "state:ready tag:a,b priority=2 -finished>-1h duration>=90s input.customer.id=42",
    )
  })

  it("is an object in the library", () => {
    const object: RunFilter = {
      state: ["ready", "running"],
      job: "invoice.*",
      tenant: { not: "acme" },
      tag: { exactly: "a*" },
      priority: { above: 0, atMost: 5 },
      finished: { after: new Date("2026-02-01T00:00Z"), before: "-1h" },
      duration: { not: { below: "5s" } },
      input: { "customer.id": 42, '"full name"': "Ada*", total: { above: 1.5 } },
      and: [{ tag: { is: ["x", "y"], not: "z" } }],
    }
    expect(printFilter(readFilter(object))).toBe(
      'state:ready,running job:invoice.* -tenant:acme tag:"a*" tag:x,y -tag:z priority<=5 priority>0 ' +
        `finished<-1h finished>2026-02-01T00:00:00.000Z -duration<5s ` +
        'input.customer.id=42 input."full name"=Ada* input.total>1.5',
    )
  })

  it("is the same filter after it was written and read", () => {
    fc.assert(
      fc.property(filters, (filter) => {
        const text = printFilter(filter)
        expect(parseFilter(text)).toEqual(filter)
        expect(printFilter(parseFilter(text))).toBe(text)
      }),
    )
  })

  it("is the same filter as an object and as the text of it", () => {
    fc.assert(
      fc.property(objects, runs, (object, some) => {
        const read = readFilter(object)
        const again = parseFilter(printFilter(read))
        expect(again).toEqual(read)
        expect(matches(again, some, NOW)).toBe(matches(read, some, NOW))
      }),
    )
  })

  it("is matched by exactly the runs that match each of its terms", () => {
    fc.assert(
      fc.property(filters, runs, (filter, some) => {
        const each = filter.terms.map((term) => matches({ terms: [term] }, some, NOW))
        const turned = filter.terms.map((term) =>
          matches({ terms: [{ ...term, not: !term.not }] }, some, NOW),
        )
        expect(each.map((answer) => !answer)).toEqual(turned)
        expect(matches(filter, some, NOW)).toBe(each.every(Boolean))
      }),
    )
  })

  it("is refused by its fault and by nothing else, however hostile the text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...FIELD_NAMES,
        "-",
        ":",
        "=",
        ">",
        "<=",
        "!=",
        '"',
        "\\",
        "*",
        ",",
        ".",
        " ",
        "\0",
        "\ud800",
      ),
      fc.constantFrom(
        "__proto__",
        "constructor",
        "input.",
        "input..a",
        "-1h",
        "1e999",
        "2026-02-30T00:00Z",
        "ready",
      ),
      fc.string({ unit: "binary" }),
    )
    const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""))
    fc.assert(
      fc.property(hostile, (text) => {
        try {
          expect(parseFilter(printFilter(parseFilter(text)))).toEqual(parseFilter(text))
        } catch (error) {
          if (!(error instanceof FilterError)) throw error
          expect(error.faults.length).toBeGreaterThan(0)
          for (const { position = -1 } of error.faults) expect(position).toBeGreaterThanOrEqual(0)
          for (const { position = -1 } of error.faults) expect(position).toBeLessThanOrEqual(text.length)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe("what is wrong with a filter", () => {
  it("is said all at once, each with its place", () => {
    const text = 'stat:ready job:a due<tomorow -priority>x "open queue:mail state:redy,runing'
    expect(faultsOf(text)).toEqual([
      ["0", "stat", 'unknown field; did you mean "state"?'],
      ["21", "due", expect.stringMatching(/^expected a time as .*, got "tomorow"$/)],
      ["39", "priority", 'expected a whole number, got "x"'],
      ["41", "", "the quote is not closed"],
    ])
    expect(faultsOf("queue:mail state:redy,runing")).toEqual([
      ["0", "queue", 'unknown field; did you mean "pool"?'],
      ["17", "state", 'no run has the state "redy"; did you mean "ready"?'],
      ["22", "state", 'no run has the state "runing"; did you mean "running"?'],
    ])
  })

  it.each([
    ["ready", 0, "expected a comparison after the name"],
    ["state:ready and job:x", 12, "terms are joined by and"],
    ["state!=ready", 5, 'a leading - is not, as in "-state:…"'],
    ["state>ready", 5, 'state takes ":", not ">"'],
    ["finished:now", 8, 'finished takes ">", ">=", "<", "<=", not ":"'],
    ["job:", 4, 'expected a value after "job:"'],
    ["job:a,", 6, 'expected a value after "job:"'],
    ['job:""', 4, "expected a text that is not empty"],
    ["job:a*b", 5, 'a "*" can only stand at the end'],
    ['job:"a"b', 7, "expected a space or a comma after the closing quote"],
    ['job:a"b"', 5, "put the whole value in quotes"],
    ['job:"\\n"', 5, "a backslash in quotes"],
    [":x", 0, "expected the name of a field"],
    ["-", 1, "expected the name of a field"],
    ["priority>1,2", 11, '">" takes one value'],
    ["priority>1*", 9, '">" takes no "*"'],
    ["state:read*", 6, "expected a state of a run"],
    ["id:7", 3, "expected the id of a run"],
    ["duration>5", 9, "expected a duration"],
    ["due<2026-02-30T00:00Z", 4, "expected a time"],
    ["due<10000-01-01T00:00Z", 4, "expected a time"],
    ["due<2026-03-01T00:00", 4, "expected a time"],
    ["input=1", 0, "input is asked for a value inside it"],
    ["input.=1", 0, "a step of the path is empty"],
    ["job.name:x", 0, "job has no parts"],
    ["input.a>b", 8, "expected a number"],
    ["__proto__:x", 0, "unknown field"],
    [`job:${"x".repeat(1_001)}`, 4, "expected at most 1000 characters"],
    ["x".repeat(20_000), 16_384, "expected at most 16384 characters"],
    ["job:a ".repeat(101), 600, "expected at most 100 terms"],
  ])("has a position and a hint: %.40s", (text, position, hint) => {
    const [[at, , message] = []] = faultsOf(text)
    expect([at, message]).toEqual([String(position), expect.stringContaining(hint)])
  })

  it("is said of an object too, each with its path", () => {
    const wrong = {
      stat: "ready",
      job: [],
      pool: 5,
      priority: { above: "1", abov: 1 },
      finished: "yesterday",
      due: { after: 5, not: { after: "-1h", before: "now" } },
      duration: { above: "long" },
      input: { "a b": 1, "": 1, a: { is: null } },
      and: [{ tag: { exactly: "" } }, 7],
    }
    expect(faultsOf(wrong as unknown as RunFilter).map(([, path, message]) => `${path}: ${message}`)).toEqual(
      [
        'stat: unknown field; did you mean "state"?',
        "job: expected at least one value; no run would match an empty list",
        "pool: expected a text, or its beginning and a `*`, got 5",
        'priority.above: expected a number, got "1"',
        'priority.abov: unknown; did you mean "above"?',
        'finished: expected an object with after, from, before, until, got "yesterday"',
        "due.after: expected a Date or a text, got 5",
        "due.not: expected one of after, from, before, until",
        'duration.above: expected a duration, got "long"',
        'input["a b"]: expected a comparison after the name, as in "job:invoice.*" or "priority>0"',
        'input[""]: a step of the path is empty: write the name of the member between the dots',
        'input["a"].is: expected a text, a number, `true` or `false`; with `<` and `>` a number, got null',
        "and[0].tag: expected a text that is not empty",
        "and[1]: expected an object or a text, got 7",
      ],
    )
  })
})

describe("the table of fields", () => {
  it("has an example of each that can be read, and that is written as it is read", () => {
    const examples = FIELD_NAMES.map((name) => fieldOf(name).example)
    expect(examples.map((example) => printFilter(parseFilter(example)).slice(0, 3))).toEqual(
      examples.map((example) => example.slice(0, 3)),
    )
  })

  it("knows what each field is called elsewhere, and no other field by that name", () => {
    for (const name of FIELD_NAMES) {
      for (const word of fieldOf(name).elsewhere.filter((one) => /^\w+$/.test(one))) {
        expect(faultsOf(`${word}:x`)[0]?.[2]).toContain("did you mean")
        expect(FIELD_NAMES).not.toContain(word)
      }
    }
  })
})

function faultsOf(filter: RunFilter | string): string[][] {
  try {
    readFilter(filter)
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    expect(error.code).toBe("FILTER_INVALID")
    return error.faults.map(({ position, path, message }) => [String(position), path, message])
  }
  return []
}
