/**
 * What is told about a group of dead letters, for the statements that read groups.
 *
 * Cost: a few index entries, and at most `most` of them for the count. The tenants and versions are those of the newest
 * 1,000 letters.
 */
import { boolean, instant, int, json, nullable, text, uuid } from "../codec.ts"

export const GROUP_PARAMS = {
  /** The count ends here. */
  most: int,
} as const

export const GROUP_ROW = {
  job: text,
  fingerprint: text,
  first_at: nullable(instant),
  last_at: nullable(instant),
  count: int,
  capped: boolean,
  tenants: nullable(json),
  sample: nullable(uuid),
  error_code: nullable(text),
  error_message: nullable(text),
  state: nullable(text),
  version: nullable(text),
  changed_at: nullable(instant),
  /** Of the letters that died after the group was resolved; null among them is a letter without a version. */
  versions_since: nullable(json),
} as const

const OF_GROUP = "job = named.job and fingerprint = named.fingerprint"
const LOOKED_AT = 1_000
const MOST_TENANTS = 5

/** `named` is the relation with the job and the fingerprint of each group. */
export function groupFacts(named: string): string {
  return `
  select named.job, named.fingerprint, first.died_at as first_at, last.died_at as last_at,
    least(counted.count, @most)::int as count, counted.count > @most as capped,
    (
      select json_agg(tenant)
      from (
        select distinct tenant
        from (
          select tenant from {dead_letters} where ${OF_GROUP} order by died_at desc limit ${LOOKED_AT}
        ) as newest
        where tenant <> ''
        limit ${MOST_TENANTS}
      ) as few
    ) as tenants,
    last.run as sample, last.error_code, last.error_message,
    stored.state, stored.version, stored.changed_at,
    case when stored.state = 'resolved' then (
      select json_agg(distinct since.version)
      from (
        select version
        from {dead_letters}
        where ${OF_GROUP} and died_at > stored.changed_at
        order by died_at desc
        limit ${LOOKED_AT}
      ) as since
    ) end as versions_since
  from ${named} as named
  left join {error_groups} as stored on stored.job = named.job and stored.fingerprint = named.fingerprint
  left join lateral (
    select died_at from {dead_letters} where ${OF_GROUP} order by died_at limit 1
  ) as first on true
  left join lateral (
    select run, died_at, error_code, error_message
    from {dead_letters}
    where ${OF_GROUP}
    order by died_at desc
    limit 1
  ) as last on true
  cross join lateral (
    select count(*) from (select from {dead_letters} where ${OF_GROUP} limit @most + 1) as few
  ) as counted`
}
