/**
 * The id of the run of an occurrence, by its rule and not by the product's code.
 *
 * A UUID of version 8. Its first 48 bits are the occurrence's milliseconds since 1970. The other 74 are the lower
 * ones of two hashes of `schedule|milliseconds|generation`, the second with one more `|` at its end: 12 and 14 of the
 * first, then 48 of the second. The hash is FNV-1a of 64 bits over the text, mixed once more by the finaliser of
 * MurmurHash3.
 */
const MASK = 0xffff_ffff_ffff_ffffn

export function runOfOccurrence(schedule: string, occurrenceMs: number, generation: number): string {
  const text = `${schedule}|${occurrenceMs}|${generation}`
  const one = fnv(text)
  const first = mixed(one)
  const second = mixed(step(one, "|".charCodeAt(0)))
  const time = hex(BigInt(occurrenceMs), 12)
  const [third, fourth] = [0x8000n + (first % 0x1000n), 0x8000n + ((first / 0x1000n) % 0x4000n)]
  return [
    time.slice(0, 8),
    time.slice(8),
    hex(third, 4),
    hex(fourth, 4),
    hex(second % 0x1_0000_0000_0000n, 12),
  ].join("-")
}

function fnv(text: string): bigint {
  let hash = 14_695_981_039_346_656_037n
  for (let index = 0; index < text.length; index += 1) hash = step(hash, text.charCodeAt(index))
  return hash
}

function step(hash: bigint, unit: number): bigint {
  return ((hash ^ BigInt(unit)) * 1_099_511_628_211n) & MASK
}

function mixed(hash: bigint): bigint {
  const once = ((hash ^ (hash >> 33n)) * 0xff51_afd7_ed55_8ccdn) & MASK
  const twice = ((once ^ (once >> 33n)) * 0xc4ce_b9fe_1a85_ec53n) & MASK
  return twice ^ (twice >> 33n)
}

function hex(value: bigint, digits: number): string {
  return value.toString(16).padStart(digits, "0")
}
