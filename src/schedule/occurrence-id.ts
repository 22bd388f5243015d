/**
 * The id of the run of an occurrence: the same whoever computes it, in the order of time, unlike that of any other.
 *
 * A UUID of version 8: 48 bits of the occurrence's milliseconds, where a UUID of version 7 has its own, then 74 bits of a
 * hash. A second generation of the same occurrence, made by a backfill, has another one.
 */
import { formatInstant, type InstantMs } from "../time/instant.ts"
import { hash64 } from "./jitter.ts"

export function occurrenceId(schedule: string, occurrence: InstantMs, generation = 1): string {
  const time = BigInt.asUintN(48, BigInt(Math.floor(occurrence)))
  const name = `${schedule}|${occurrence}|${generation}`
  const [upper, lower] = [hash64(name), hash64(`${name}|`)]
  const hex = (value: bigint, digits: number) => value.toString(16).padStart(digits, "0")
  const version = 0x8000n | (upper & 0x0fffn)
  const variant = 0x8000n | ((upper >> 12n) & 0x3fffn)
  const timeHex = hex(time, 12)
  return `${timeHex.slice(0, 8)}-${timeHex.slice(8)}-${hex(version, 4)}-${hex(variant, 4)}-${hex(lower & 0xffffffffffffn, 12)}`
}

/**
 * What outside systems know the run of an occurrence by. A run that was made of it again, of a later generation, has a key
 * of its own: it is there to have the effect once more.
 */
export function occurrenceKey(run: string, schedule: string, occurrence: InstantMs): string {
  const isFirst = run === occurrenceId(schedule, occurrence)
  return isFirst ? `schedule:${schedule}:occurrence:${formatInstant(occurrence)}` : `run:${run}`
}
