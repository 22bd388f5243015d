/** Ten schedulers in real processes, killed at every point, through weeks in which clocks change. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DEADLY_POINTS } from "../support/process/scheduler-crowd.ts"
import { judge } from "../support/schedule-history/judge.ts"
import { describeStory, type Place, storyOf } from "../support/schedule-history/story.ts"
import { openWorld, type World } from "../support/schedule-history/world.ts"
import { oracleZone } from "../time/oracle.ts"

const SERVER_URLS: readonly Place[] = [
  { timeZone: "America/New_York", change: "2026-03-08T07:00Z" },
  { timeZone: "America/New_York", change: "2026-11-01T06:00Z" },
  { timeZone: "Europe/Berlin", change: "2026-03-29T01:00Z" },
  { timeZone: "Europe/Berlin", change: "2026-10-25T01:00Z" },
  { timeZone: "Australia/Lord_Howe", change: "2026-04-04T15:00Z" },
  { timeZone: "Australia/Lord_Howe", change: "2026-10-03T15:30Z" },
  { timeZone: "Africa/Cairo", change: "2024-04-25T22:00Z" },
  { timeZone: "Africa/Cairo", change: "2024-10-31T21:00Z" },
  { timeZone: "America/Sao_Paulo", change: "2018-11-04T03:00Z" },
  { timeZone: "America/Sao_Paulo", change: "2018-02-18T02:00Z" },
  { timeZone: "America/St_Johns", change: "2006-10-29T02:31Z" },
  { timeZone: "Pacific/Apia", change: "2011-12-30T10:00Z" },
  { timeZone: "Antarctica/Troll", change: "2026-03-29T01:00Z" },
  { timeZone: "Antarctica/Troll", change: "2026-10-25T01:00Z" },
]
const SEEDS_EACH = 15

describe("ten schedulers, killed again and again", () => {
  const outcomes = new Map<string, number>()
  let stories = 0
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  it.each(SERVER_URLS.map((place, index) => ({ ...place, index })))(
    "make of each occurrence what the calendar and the policies say, in $timeZone around $change",
    { timeout: 120_000 },
    async ({ index, ...place }) => {
      const change = Date.parse(place.change)
      expect(oracleZone(place.timeZone).changes(change, change + 1)).toHaveLength(1)
      for (let seed = index * SEEDS_EACH + 1; seed <= (index + 1) * SEEDS_EACH; seed += 1) {
        const story = storyOf(seed, place)
        const telling = await world.tell(story)
        const { expected, actual, faults } = judge(story, telling)
        expect(actual, describeStory(story)).toEqual(expected)
        expect(faults, describeStory(story)).toEqual([])
        stories += 1
        for (const { outcome, reason } of telling.facts.fires) {
          const what = reason === null ? outcome : `${outcome} for ${reason}`
          outcomes.set(what, (outcomes.get(what) ?? 0) + 1)
        }
      }
    },
  )

  it("were killed at every point, each as often as was planned", () => {
    const { planned, met, killed } = world.deaths()
    expect(met).toEqual(planned)
    expect(killed).toBe(planned.length)
    for (const point of DEADLY_POINTS) {
      expect(met.filter((each) => each === point).length, point).toBeGreaterThan(20)
    }
  })

  it("met every possible result of an occurrence in at least 200 stories, and wrote late after a stale read", () => {
    expect(stories).toBeGreaterThanOrEqual(200)
    expect([...outcomes.keys()].sort()).toEqual([
      "coalesced for latest",
      "fired",
      "skipped for misfire",
      "skipped for overlap",
      "skipped for paused",
    ])
    for (const [what, count] of outcomes) expect(count, what).toBeGreaterThan(50)
    expect(world.dozes()).toBeGreaterThan(100)
  })
})
