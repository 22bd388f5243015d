/** Walks over the dead letters that meet a filter, by the index that fits it. */
import type { Database } from "../database.ts"
import type { Statement } from "../statement.ts"
import { findByGroup } from "./find-by-group.ts"
import { findByJob } from "./find-by-job.ts"
import { findByTenant } from "./find-by-tenant.ts"
import { findNewest } from "./find-newest.ts"

/** Which letters are meant. A fingerprint names a group within a job. */
export interface LetterFilter {
  readonly job: string | null
  readonly fingerprint: string | null
  readonly tenant: string | null
}

/** The place of a letter among all: newer ones are above it. */
export interface LetterPlace {
  /** When it died, in ISO 8601 with microseconds. */
  readonly at: string
  readonly run: string
}

export interface LetterQuery extends LetterFilter {
  readonly below: LetterPlace | undefined
  readonly limit: number
}

export type ChosenLetter = typeof findNewest extends Statement<infer _, infer Row> ? Row : never

const TOP: LetterPlace = { at: "infinity", run: "ffffffff-ffff-ffff-ffff-ffffffffffff" }

/** Newest first. */
export function chooseLetters(database: Database, query: LetterQuery): Promise<ChosenLetter[]> {
  const { job, fingerprint, tenant, below = TOP, limit } = query
  const place = { at: below.at, run: below.run, limit }
  if (job !== null && fingerprint !== null) {
    return database.run(findByGroup, { ...place, job, fingerprint, tenant })
  }
  if (job !== null) return database.run(findByJob, { ...place, job, tenant })
  if (tenant !== null) return database.run(findByTenant, { ...place, tenant })
  return database.run(findNewest, place)
}
