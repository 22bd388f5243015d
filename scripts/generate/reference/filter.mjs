// docs/reference/filter.md: the grammar of filters, and the table of its fields.
import { code, page, table } from "./markdown.mjs"
import { declaration, fields, parse } from "./syntax.mjs"

export async function renderFilter({ load, read }) {
  const { FIELDS, KINDS } = await load("filter/fields")
  const names = Object.keys(FIELDS)
  const members = fields(...bodyOf(await read("src/filter/run-filter.ts"), "RunFilter"))
  return page(
    "# Filters",
    "A filter says which runs are meant. The same grammar serves lists, counts, bulk operations and live tails. " +
      "In the library a filter is an object or a text; everywhere else it is a text.",
    "```ts\n" +
      'const text = "state:ready,running job:invoice.* -tenant:acme enqueued>-1h input.customer.id=42"\n' +
      "const same = {\n" +
      '  state: ["ready", "running"],\n' +
      '  job: "invoice.*",\n' +
      '  tenant: { not: "acme" },\n' +
      '  enqueued: { after: "-1h" },\n' +
      '  input: { "customer.id": 42 },\n' +
      "}\n```",
    "## Grammar",
    table(
      ["Written", "Means"],
      [
        ["`state:ready job:mail`", "Terms with a space between them: all of them have to hold."],
        ["`state:ready,running`", "Values with a comma between them: one of them has to hold."],
        ["`-tenant:acme`", "A `-` before a term: it must not hold. A run without the field satisfies it."],
        ["`job:invoice.*`", "A `*` at the end: the value begins so. `tenant:*` is any tenant."],
        [
          '`key:"order 7"`, `tag:"a*"`',
          'Quotes: every character is meant. `\\"` is a quote and `\\\\` a backslash.',
        ],
        ["`priority>0`, `due<=now`", "`<`, `<=`, `>` and `>=` compare with one value."],
        ["`priority=1,2`", "`=` and `:` are the same."],
      ],
    ),
    "What is unknown or malformed is refused with a `FilterError`: each fault has its position and, where a word is " +
      "near, what was probably meant. An empty filter matches every run. A filter has at most 100 terms and 16,384 " +
      "characters.",
    "## Fields",
    table(
      ["Field", "Of the run", "Takes", "Comparisons", "Meaning"],
      names.map((name) => {
        const { kind, reads, means } = FIELDS[name]
        const { takes, operators, one } = KINDS[kind]
        return [
          code(name === "input" ? "input.<path>" : name),
          reads.map(code).join(", "),
          takes,
          operators.map((operator) => code(operator === ":" ? one : operator)).join(" "),
          means,
        ]
      }),
    ),
    "## Examples",
    table(
      ["Filter", "Finds runs"],
      [
        ["`state:succeeded,dead started<-10m`", "that ended, and started more than ten minutes ago"],
        ["`state:dead error:ETIMEDOUT finished>-1d`", "that died of a timeout within a day"],
        ["`-tenant:*`", "of no tenant"],
        ["`tag:eu tag:urgent`", "with both tags"],
        ["`-finished>-1h`", "that have not ended within the last hour, or not at all"],
        ['`input."first name"=Ada input.lines.0.qty>=10`', "by two values inside their input"],
      ],
    ),
    "## Values",
    "- A time is in UTC unless it says otherwise. A date alone is its midnight. A time from now is counted from the " +
      "moment at which the filter is asked, by the database's clock.\n" +
      "- Times are compared in whole milliseconds.\n" +
      "- A path goes through objects by name and through arrays by number, from the end if it is negative: " +
      "`input.lines.-1.sku`. `=` compares texts, numbers and booleans as JSON writes them; `42` is the number " +
      "and the text. Objects, arrays and `null` have no value.",
    "## As an object",
    table(
      ["Key", "Type"],
      members.map(({ name, type }) => [code(name), code(type.replace(/\s+/g, " "))]),
    ),
    "`{ is, not }` takes values that one of has to hold and values of which none may. Bounds are `above`, `atLeast`, " +
      "`below` and `atMost` for numbers and durations, `after`, `from`, `before` and `until` for times. `and` takes " +
      "further filters, for two conditions on one field.",
  )
}

function bodyOf(text, name) {
  return [text, declaration(parse(text), name).body.body]
}
