import { describe, expect, it } from "vitest"
import { type ImportedCrontab, importCrontab, previewSchedule } from "../../src/index.ts"

const CRONTAB = `# m h  dom mon dow   command
SHELL=/bin/bash
MAILTO = "ops@example.com"

17 *	* * *	cd / && run-parts --report /etc/cron.hourly
0 2 * * sun  backup --full
CRON_TZ="Europe/Berlin"
30 2 * * *   report --day $(date +\\%F)
0 6 */2 * 1  rotate
0 6 1 * 1    settle FOO=bar
@daily       prune
@reboot      warm-up
0 0 30 2 *   never
0 22-2 * * * night-watch
5 0 * * *    date +%s
CRON_TZ=Mars/Olympus
@hourly      tick
`

describe("a crontab", () => {
  const imported = importCrontab(CRONTAB)

  it("becomes a schedule for each line that has a time, with its command and its number", () => {
    expect(imported.entries).toEqual([
      { line: 5, spec: { cron: "17 * * * *" }, command: "cd / && run-parts --report /etc/cron.hourly" },
      { line: 6, spec: { cron: "0 2 * * sun" }, command: "backup --full" },
      berlin(8, "30 2 * * *", "report --day $(date +\\%F)"),
      berlin(9, "0 6 */2 * +1", "rotate"),
      berlin(10, "0 6 1 * 1", "settle FOO=bar"),
      berlin(11, "@daily", "prune"),
      berlin(15, "5 0 * * *", "date +%s"),
      berlin(17, "@hourly", "tick"),
    ])
  })

  it("reports what was changed, assumed or left out, and where", () => {
    expect(imported.notes.map(({ line, code }) => [line, code])).toEqual([
      [2, "variable-left-out"],
      [3, "variable-left-out"],
      [5, "zone-assumed"],
      [7, "zone-taken"],
      [9, "days-joined"],
      [12, "reboot-left-out"],
      [13, "not-understood"],
      [14, "not-understood"],
      [15, "percent-in-command"],
      [16, "not-understood"],
    ])
    expect(noteOn(imported, 9)).toContain('"*/2" and "1"')
    expect(noteOn(imported, 13)).toContain("can never fire")
    expect(noteOn(imported, 14)).toContain("22-23,0-2")
  })

  it("requires both day fields where the daemon does: when either begins with a star", () => {
    const days = (line: string) => importCrontab(`${line} x`).entries[0]?.spec.cron
    expect(days("0 0 */2 * 1")).toBe("0 0 */2 * +1")
    expect(days("0 0 1 * */2")).toBe("0 0 1 * +*/2")
    expect(days("0 0 1-31/2 * 1")).toBe("0 0 1-31/2 * 1")
    expect(days("0 0 * * 1")).toBe("0 0 * * 1")
    expect(days("0 0 */2 * *")).toBe("0 0 */2 * *")
  })

  it("gives schedules that can be previewed as they are", () => {
    for (const { spec } of imported.entries) expect(previewSchedule(spec).occurrences).toHaveLength(5)
  })

  it("is read in the grammar of the daemon, with line breaks of Unix or Windows", () => {
    expect(importCrontab("0 0 L * * x").notes).toMatchObject([{ line: 1, code: "not-understood" }])
    expect(importCrontab("0 0 * * * a\r\n@daily b\r\n").entries.map(({ command }) => command)).toEqual([
      "a",
      "b",
    ])
  })

  it("is never a reason to throw", () => {
    const { entries, notes } = importCrontab("\u0000\n=\n= =\n@\n* * *\n% % % % %\nA=\n")
    expect(entries).toEqual([])
    expect(notes.map(({ line }) => line)).toEqual(expect.arrayContaining([1, 4, 5, 7]))
  })
})

function berlin(line: number, cron: string, command: string) {
  return { line, spec: { cron, timeZone: "Europe/Berlin" }, command }
}

function noteOn({ notes }: ImportedCrontab, line: number): string | undefined {
  return notes.find((note) => note.line === line)?.message
}
