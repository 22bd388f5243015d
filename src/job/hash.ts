/** A hash of a text: the same in every process and version. It is not for secrets. */

/** FNV-1a over the UTF-16 code units, then a finalizer: FNV alone gives short texts similar upper bits. */
export function hash64(text: string): bigint {
  let hash = 0xcbf29ce484222325n
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n)
  }
  hash = BigInt.asUintN(64, (hash ^ (hash >> 33n)) * 0xff51afd7ed558ccdn)
  hash = BigInt.asUintN(64, (hash ^ (hash >> 33n)) * 0xc4ceb9fe1a85ec53n)
  return hash ^ (hash >> 33n)
}
