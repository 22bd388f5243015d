/** The pages of the dashboard: where they are, and what shows them. */
import type { ComponentType } from "preact"
import type { IconName } from "../marks/icon.tsx"
import { AuditPage } from "../pages/audit.tsx"
import { CalendarPage } from "../pages/calendar.tsx"
import { DeadLettersPage } from "../pages/dead-letters.tsx"
import { JobsPage } from "../pages/jobs.tsx"
import { MetricsPage } from "../pages/metrics.tsx"
import { OverviewPage } from "../pages/overview.tsx"
import { PoolsPage } from "../pages/pools.tsx"
import { RunPage } from "../pages/run.tsx"
import { RunsPage } from "../pages/runs.tsx"
import { SchedulePage } from "../pages/schedule.tsx"
import { SchedulesPage } from "../pages/schedules.tsx"
import { SystemPage } from "../pages/system.tsx"

export interface PageEntry {
  readonly path: string
  readonly title: string
  readonly icon: IconName
  readonly group: "Work" | "Capacity" | "System"
  /** Pressed after `g`. */
  readonly key: string
  readonly page: ComponentType
}

export const PAGES: readonly PageEntry[] = [
  { path: "", title: "Overview", icon: "overview", group: "Work", key: "o", page: OverviewPage },
  { path: "runs", title: "Runs", icon: "runs", group: "Work", key: "r", page: RunsPage },
  { path: "schedules", title: "Schedules", icon: "schedules", group: "Work", key: "s", page: SchedulesPage },
  { path: "calendar", title: "Calendar", icon: "calendar", group: "Work", key: "c", page: CalendarPage },
  {
    path: "dead-letters",
    title: "Dead letters",
    icon: "dead",
    group: "Work",
    key: "d",
    page: DeadLettersPage,
  },
  { path: "pools", title: "Pools and workers", icon: "pools", group: "Capacity", key: "p", page: PoolsPage },
  { path: "jobs", title: "Jobs", icon: "jobs", group: "Capacity", key: "j", page: JobsPage },
  { path: "metrics", title: "Metrics", icon: "metrics", group: "System", key: "m", page: MetricsPage },
  { path: "audit", title: "Audit", icon: "audit", group: "System", key: "a", page: AuditPage },
  { path: "system", title: "System", icon: "system", group: "System", key: "y", page: SystemPage },
]

export const DETAILS: Readonly<Record<string, ComponentType<{ readonly name: string }>>> = {
  runs: RunPage,
  schedules: SchedulePage,
}
