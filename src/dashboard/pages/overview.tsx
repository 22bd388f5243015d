/** Overview: what needs a person, and the seven panels where one looks first. */

import { withParams } from "../app/api.ts"
import { useDashboard } from "../app/dashboard.ts"
import type {
  DeadLetterGroup,
  DepthPoint,
  Job,
  Page,
  Schedule,
  StatsNow,
  StatsPoint,
  Worker,
} from "../app/records.ts"
import { useQuery } from "../app/use-query.ts"
import { Attention } from "./overview/attention.tsx"
import {
  DeadLettersPanel,
  FailuresByJob,
  LeaseExpirations,
  RetriesByTenant,
} from "./overview/ended-panels.tsx"
import { FiresAhead } from "./overview/fires-ahead.tsx"
import { Golden } from "./overview/golden.tsx"
import { StartHere } from "./overview/start-here.tsx"
import { DueByJob, OldestLag, PoolSaturation } from "./overview/waiting-panels.tsx"

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

export function OverviewPage() {
  const { nowMs } = useDashboard()
  const now = nowMs.value
  // The question stays the same for a minute, so that the answer can be read again and again.
  const minuteMs = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const from = new Date(minuteMs - HOUR_MS).toISOString()
  const present = useQuery<StatsNow>("/stats/now", { everyMs: 5_000 })
  const ends = useQuery<{ readonly items: readonly StatsPoint[] }>(
    withParams("/stats", { from, by: "job,outcome" }),
    { everyMs: 10_000 },
  )
  const byTenant = useQuery<{ readonly items: readonly StatsPoint[] }>(
    withParams("/stats", { from: new Date(minuteMs - 15 * MINUTE_MS).toISOString(), by: "tenant" }),
    { everyMs: 10_000 },
  )
  const depths = useQuery<{ readonly items: readonly DepthPoint[] }>(withParams("/stats/depths", { from }), {
    everyMs: 10_000,
  })
  const groups = useQuery<Page<DeadLetterGroup>>("/dead-letters/groups?limit=20", { everyMs: 10_000 })
  const workers = useQuery<Page<Worker>>("/workers?limit=200", { everyMs: 10_000 })
  const schedules = useQuery<Page<Schedule>>("/schedules?limit=1000", { everyMs: 15_000 })
  const jobs = useQuery<Page<Job>>("/jobs?limit=1000", { everyMs: 30_000 })
  const pools = present.data?.pools
  const hourStart = minuteMs - HOUR_MS
  return (
    <div class="page overview">
      <StartHere
        jobs={jobs.data?.items}
        schedules={schedules.data?.items}
        groups={groups.data?.items}
        ends={ends.data?.items}
      />
      <Golden
        pools={pools}
        ends={ends.data?.items}
        groups={groups.data?.items}
        depths={depths.data?.items}
        fromMs={hourStart}
      />
      <div class="overview-two">
        <Attention
          known={{
            pools,
            jobs: jobs.data?.items,
            groups: groups.data?.items,
            schedules: schedules.data?.items,
            workers: workers.data?.items,
            nowMs: now,
          }}
          problem={present.problem}
          ready={present.data !== undefined && groups.data !== undefined}
        />
        <FiresAhead fromMs={minuteMs} />
      </div>
      <div class="overview-three">
        <DueByJob />
        <OldestLag query={depths} fromMs={hourStart} />
        <PoolSaturation query={present} />
      </div>
      <div class="overview-four">
        <FailuresByJob query={ends} fromMs={hourStart} />
        <RetriesByTenant query={byTenant} />
        <LeaseExpirations query={ends} fromMs={hourStart} />
        <DeadLettersPanel query={groups} />
      </div>
    </div>
  )
}
