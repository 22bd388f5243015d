/** All routes below `/api/v1`. */
import { auditRoutes } from "./audit.ts"
import { bulkRoutes } from "./bulk.ts"
import { calendarRoutes } from "./calendar.ts"
import { deadLetterRoutes } from "./dead-letters.ts"
import { jobRoutes } from "./jobs.ts"
import { pauseRoutes } from "./pauses.ts"
import { poolRoutes } from "./pools.ts"
import type { Route } from "./route.ts"
import { runRoutes } from "./runs.ts"
import { scheduleRoutes } from "./schedules.ts"
import { sessionRoutes } from "./session.ts"
import { statsRoutes } from "./stats.ts"
import { tenantRoutes } from "./tenants.ts"
import { tokenRoutes } from "./tokens.ts"
import { workRoutes } from "./work.ts"
import { workerRoutes } from "./workers.ts"

export const ROUTES: readonly Route[] = [
  ...runRoutes,
  ...deadLetterRoutes,
  ...bulkRoutes,
  ...scheduleRoutes,
  ...calendarRoutes,
  ...jobRoutes,
  ...poolRoutes,
  ...workerRoutes,
  ...workRoutes,
  ...statsRoutes,
  ...sessionRoutes,
  ...auditRoutes,
  ...pauseRoutes,
  ...tenantRoutes,
  ...tokenRoutes,
]
