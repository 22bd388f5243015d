/**
 * The tables of an export: all but the ledger of migrations, which an import writes itself.
 *
 * It is a list and not read from the catalog, because a schema may also hold other programs' tables, and days of
 * history that a person detached in order to keep them. test/long/export-and-import.test.ts compares it with the
 * migrations.
 */
export const TABLES = [
  "jobs",
  "limits",
  "pauses",
  "ramps",
  "overrides",
  "workers",
  "runs",
  "claims",
  "run_limits",
  "limit_waves",
  "low_water",
  "keys",
  "dead_letters",
  "error_groups",
  "bulk",
  "attempts",
  "audit",
  "tokens",
  "applications",
  "schedules",
  "fires",
  "schedule_ends",
  "zone_data",
  "alarms",
  "stats",
  "depths",
] as const
