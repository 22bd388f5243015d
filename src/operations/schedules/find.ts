/** Finds a schedule by its name. Throws `SCHEDULE_NOT_FOUND` if there is none. */
import type { StoredSchedule } from "../../engine/schedules/change.ts"
import { notFound } from "../../engine/schedules/refusals.ts"
import type { Runner } from "../../store/database.ts"
import { findSchedule } from "../../store/schedules/find.ts"
import type { WhichSchedule } from "./which.ts"

export async function find(
  on: Runner,
  { tenant, name }: Pick<WhichSchedule, "tenant" | "name">,
): Promise<StoredSchedule> {
  const [row] = await on.run(findSchedule, { tenant, name })
  if (!row) throw notFound(name)
  return row
}
