/**
 * The run id of an occurrence. Every process computes the same id, and ids sort by time.
 *
 * A version 8 UUID: 48 bits of milliseconds, as in version 7, but of the occurrence. Then 74 bits of a hash. Another
 * generation of the same occurrence, made by a backfill, has another id.
 */
import { hash64 } from "../job/hash.ts"
import { formatInstant, type InstantMs } from "../time/instant.ts"

export function occurrenceId(schedule: string, occurrence: InstantMs, generation = 1): string {
  const time = BigInt.asUintN(48, BigInt(Math.floor(occurrence)))
  const name = `${schedule}|${occurrence}|${generation}`
  const [upper, lower] = [hash64(name), hash64(`${name}|`)]
  const hex = (value: bigint, digits: number) => value.toString(16).padStart(digits, "0")
  const version = 0x8000n | (upper & 0x0fffn)
  const variant = 0x8000n | ((upper >> 12n) & 0x3fffn)
  const timeHex = hex(time, 12)
  const groups = [hex(version, 4), hex(variant, 4), hex(lower & 0xffffffffffffn, 12)]
  return [timeHex.slice(0, 8), timeHex.slice(8), ...groups].join("-")
}

/**
 * The idempotency key of an occurrence's run. A run of a later generation has a key of its own, because a backfill
 * wants the side effect to happen again.
 */
export function occurrenceKey(run: string, schedule: string, occurrence: InstantMs): string {
  const isFirst = run === occurrenceId(schedule, occurrence)
  return isFirst ? `schedule:${schedule}:occurrence:${formatInstant(occurrence)}` : `run:${run}`
}
