/**
 * The tables that an export carries: all but the ledger of migrations, which an import writes by itself.
 *
 * A list and not whatever the catalog holds: a schema may also hold days of history that somebody detached to keep, and
 * tables that are not ours. test/long/transfer.test.ts holds it against the migrations.
 */
export const TABLES = [
  "jobs",
  "limits",
  "pauses",
  "workers",
  "runs",
  "claims",
  "run_limits",
  "limit_waves",
  "low_water",
  "keys",
  "dead_letters",
  "attempts",
  "audit",
  "applications",
  "schedules",
  "fires",
  "schedule_ends",
  "zone_data",
  "alarms",
] as const
