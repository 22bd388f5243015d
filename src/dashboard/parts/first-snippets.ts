/** What an empty page offers to take away: the calls that fill it. */

type Tongue = readonly [name: string, text: string]

const lines = (...all: readonly string[]) => all.join("\n")

/** `base` is the address of the API. */
export function enqueueSnippets(base: string): readonly Tongue[] {
  return [
    ["CLI", `carillon run enqueue email.send --input '{"to":"ada@example.com"}'`],
    ["TypeScript", `await carillon.enqueue(sendEmail, { to: "ada@example.com" })`],
    [
      "curl",
      lines(
        `curl -X POST ${base}/runs \\`,
        "  -H 'Content-Type: application/json' \\",
        `  -d '{"job":"email.send","input":{"to":"ada@example.com"}}'`,
      ),
    ],
  ]
}

export function scheduleSnippets(base: string): readonly Tongue[] {
  return [
    [
      "TypeScript",
      lines(
        "const nightly = defineSchedule({",
        `  name: "nightly-report",`,
        "  job: report,",
        `  cron: "30 2 * * *",`,
        `  timeZone: "Europe/Oslo",`,
        "})",
        "createCarillon({ jobs: [report], schedules: [nightly] })",
      ),
    ],
    ["CLI", `carillon schedule put nightly-report --job report --cron "30 2 * * *" --time-zone Europe/Oslo`],
    [
      "curl",
      lines(
        `curl -X PUT ${base}/schedules/nightly-report \\`,
        "  -H 'Content-Type: application/json' \\",
        `  -d '{"job":"report","cron":"30 2 * * *","timeZone":"Europe/Oslo"}'`,
      ),
    ],
  ]
}

export const JOB_SNIPPETS: readonly Tongue[] = [
  [
    "TypeScript",
    lines(
      `import { createCarillon, defineJob } from "carillon"`,
      "",
      "const hello = defineJob({",
      `  name: "hello",`,
      "  run: async (input: { name: string }, ctx) => {",
      '    ctx.log("hello " + input.name)',
      "  },",
      "})",
      "",
      "const carillon = createCarillon({ jobs: [hello] })",
      "await carillon.start()",
    ),
  ],
]
