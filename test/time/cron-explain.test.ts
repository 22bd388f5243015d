import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { runCommand } from "../support/run-command.ts"

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url))
const explain = (...args: string[]) => runCommand(process.execPath, [CLI, "cron", "explain", ...args]).ended

describe("carillon cron explain", () => {
  it("explains an expression in words, its next and previous times on the wall, and its traps", async () => {
    const { code, output } = await explain(
      "30 2 13 * fri",
      "--tz",
      "Europe/Oslo",
      "--from",
      "2026-03-01T00:00Z",
      "--count",
      "1",
    )
    expect(code).toBe(0)
    const lines = output.split("\n")
    expect(lines[0]).toBe("At 02:30, on the 13th, or on any Friday, in Europe/Oslo.")
    expect(output).toContain("Next:\n  2026-03-06T01:30:00.000Z   Fri, 06 Mar 2026, 02:30:00 GMT+1\n")
    expect(output).toContain("Previous:\n  2026-02-27T01:30:00.000Z   Fri, 27 Feb 2026, 02:30:00 GMT+1\n")
    expect(output).toContain("either-or-days: ")
  })

  it("prints the same as JSON", async () => {
    const { code, output } = await explain(
      ..."30 2 * * *|--tz|Europe/Oslo|--from|2026-03-28T12:00Z|--count|1|--gap|skip|--fold|both|-o|json".split(
        "|",
      ),
    )
    expect(code).toBe(0)
    expect(JSON.parse(output)).toEqual({
      occurrences: ["2026-03-30T00:30:00.000Z"],
      previous: ["2026-03-28T01:30:00.000Z"],
      words: "at 02:30, every day, in Europe/Oslo",
      warnings: [
        expect.objectContaining({ code: "dst-skipped", at: "2026-03-29T01:00:00.000Z" }),
        expect.objectContaining({ code: "dst-doubled", at: "2026-10-25T01:30:00.000Z" }),
        expect.objectContaining({ code: "dst-skipped", at: "2027-03-28T01:00:00.000Z" }),
      ],
    })
  })

  it.each([
    ["a wrong expression", ["61 * * * *"], "CRON_RANGE"],
    ["one that never fires", ["0 0 30 2 *"], "SCHEDULE_NEVER_FIRES"],
    ["an unknown zone", ["0 0 * * *", "--tz", "Mars/Olympus"], "TIME_ZONE_UNKNOWN"],
    ["a step in the narrowest dialect", ["*/5 * * * *", "--dialect", "posix"], "CRON_DIALECT"],
  ])("exits with 1 for %s", async (_, args, code) => {
    const ended = await explain(...args)
    expect(ended).toMatchObject({ code: 1, output: expect.stringContaining(code) })
  })

  it.each([
    ["no expression", []],
    ["an expression without quotes", ["*", "*", "*", "*", "*"]],
    ["an unknown option", ["* * * * *", "--zone", "UTC"]],
    ["an unknown output", ["* * * * *", "-o", "xml"]],
    ["a count that is none", ["* * * * *", "--count", "many"]],
    ["an unknown dialect", ["* * * * *", "--dialect", "quartz"]],
    ["an instant that is none", ["* * * * *", "--from", "tomorrow"]],
  ])("exits with 2 for a wrong call: %s", async (_, args) => {
    expect(await explain(...args)).toMatchObject({ code: 2 })
  })

  it("prints its help", async () => {
    expect(await explain("--help")).toMatchObject({ code: 0, output: expect.stringContaining("--dialect") })
  })
})
