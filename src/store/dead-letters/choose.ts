/** Walks over the dead letters that meet a filter, by the index that fits it. */
import type { Database } from "../database.ts"
import type { Statement } from "../statement.ts"
import { findByGroup } from "./find-by-group.ts"
import { findByJob } from "./find-by-job.ts"
import { findByTenant } from "./find-by-tenant.ts"
import { findNewest } from "./find-newest.ts"

/** What an index can lead by: the only job, fingerprint or tenant that the filter allows. */
export interface LetterEntry {
  readonly job: string | undefined
  readonly fingerprint: string | undefined
  readonly tenant: string | undefined
}

/** The place of a letter among all: newer ones are above it. */
export interface LetterPlace {
  /** When it died, in ISO 8601 with microseconds. */
  readonly at: string
  readonly run: string
}

type Params = typeof findNewest extends Statement<infer P, infer _> ? P : never
export type LetterConditions = Omit<Params, "at" | "run" | "budget" | "limit">

export interface LetterQuery {
  readonly entry: LetterEntry
  readonly conditions: LetterConditions
  readonly below: LetterPlace | undefined
  /** How many letters are looked at. */
  readonly budget: number
  readonly limit: number
}

export type WalkedLetter = typeof findNewest extends Statement<infer _, infer Row> ? Row : never

const TOP: LetterPlace = { at: "infinity", run: "ffffffff-ffff-ffff-ffff-ffffffffffff" }

/** Newest first. */
export function walkLetters(database: Database, query: LetterQuery): Promise<WalkedLetter[]> {
  const { entry, conditions, below = TOP, budget, limit } = query
  const { job, fingerprint, tenant } = entry
  const params = { ...conditions, at: below.at, run: below.run, budget: BigInt(budget), limit }
  if (job !== undefined && fingerprint !== undefined) {
    return database.run(findByGroup, { ...params, job, fingerprint })
  }
  if (job !== undefined) return database.run(findByJob, { ...params, job })
  if (tenant) return database.run(findByTenant, { ...params, tenant })
  return database.run(findNewest, params)
}
