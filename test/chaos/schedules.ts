/** The schedules of the standard load: every misfire and every overlap, as fast as schedules can be. */
export interface Planned {
  readonly name: string
  readonly job: "tick" | "tock"
  readonly [setting: string]: unknown
}

/** `tick` ends at once, `tock` takes longer than some of its intervals. */
const LONG = { ms: 1_300 }

export const SCHEDULES: readonly Planned[] = [
  { name: "all-1s", job: "tick", input: {}, every: "1s", misfire: "all" },
  { name: "all-cron", job: "tick", input: {}, cron: "* * * * * *", misfire: "all", overlap: "allow" },
  { name: "latest-1s", job: "tick", input: {}, every: "1s", misfire: "latest", overlap: "allow" },
  { name: "latest-cron", job: "tick", input: {}, cron: "* * * * * *", misfire: "latest", overlap: "skip" },
  { name: "skip-2s", job: "tick", input: {}, every: "2s", misfire: "skip", overlap: "allow" },
  { name: "within-1s", job: "tick", input: {}, every: "1s", misfire: { mode: "all", within: "3s", max: 2 } },
  { name: "oslo", job: "tick", input: {}, cron: "*/3 * * * * *", timeZone: "Europe/Oslo", misfire: "all" },
  { name: "failing-2s", job: "tick", input: { failUntil: 2 }, every: "2s", misfire: "all", overlap: "allow" },
  { name: "slow-skip", job: "tock", input: LONG, every: "1s", overlap: "skip" },
  { name: "slow-queue", job: "tock", input: LONG, every: "2s", overlap: "queue" },
  { name: "slow-collapse", job: "tock", input: LONG, every: "1s", overlap: "collapse" },
  { name: "slow-replace", job: "tock", input: LONG, every: "2s", overlap: "replace", replaceGrace: "1s" },
  { name: "after", job: "tick", input: {}, afterCompletion: "700ms" },
  { name: "minutely", job: "tick", input: {}, cron: "* * * * *", misfire: "all" },
]
