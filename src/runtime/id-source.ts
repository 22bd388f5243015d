/**
 * Makes ids: UUIDv7 whose 12 bits after the time count upwards within a millisecond. So the ids of one process
 * strictly increase, even if the wall clock stands still or steps back. The other 62 bits are random.
 *
 * Each id is written into one buffer and read from it as a whole. Building it from pieces takes twice as long, and
 * more than that with garbage collection.
 */

/** Random bytes are drawn for many ids at once: a single draw takes as long as hundreds. */
const DRAWN_AT_ONCE = 512
const RANDOM_BYTES = 8
const COUNTER_MAX = 0xfff
const TEXT = new TextEncoder()
const HEX = TEXT.encode("0123456789abcdef")
/** The positions of the random digits, after the two that also hold the variant. */
const RANDOM_AT = [21, 24, 26, 28, 30, 32, 34]

/** `fillRandomly` fills bytes with random values, for `drawnAtOnce` ids together. */
export function createIdSource(
  nowMs: () => number,
  fillRandomly: (bytes: Uint8Array) => void,
  drawnAtOnce = DRAWN_AT_ONCE,
): () => string {
  const drawn = new Uint8Array(RANDOM_BYTES * drawnAtOnce)
  let used = drawn.length
  let lastMs = 0
  let counter = 0
  const id = TEXT.encode("00000000-0000-7000-8000-000000000000")
  const reader = new TextDecoder()

  function count(): void {
    const ms = nowMs()
    if (ms > lastMs) {
      lastMs = ms
      counter = 0
    } else if (counter < COUNTER_MAX) {
      counter += 1
    } else {
      lastMs += 1
      counter = 0
    }
  }

  /** The hex digits of one byte. */
  function put(at: number, byte: number): void {
    id[at] = HEX[byte >> 4] ?? 0
    id[at + 1] = HEX[byte & 0xf] ?? 0
  }

  return () => {
    count()
    if (counter === 0) {
      const time = lastMs.toString(16).padStart(12, "0")
      TEXT.encodeInto(`${time.slice(0, 8)}-${time.slice(8)}`, id)
    }
    id[15] = HEX[counter >> 8] ?? 0
    put(16, counter & 0xff)
    if (used === drawn.length) {
      fillRandomly(drawn)
      used = 0
    }
    put(19, 0x80 | ((drawn[used] ?? 0) & 0x3f))
    for (const [index, at] of RANDOM_AT.entries()) put(at, drawn[used + 1 + index] ?? 0)
    used += RANDOM_BYTES
    return reader.decode(id)
  }
}
