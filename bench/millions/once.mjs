/** Proof over many sessions that nothing is executed twice. */

/** How many ran; none of them twice, and none in an earlier round. */
export function countOnce(times, seen) {
  let ran = 0
  for (const [n, count] of times.entries()) {
    if (count === 0) continue
    if (count > 1 || seen.has(n)) throw new Error(`void: run ${n} was executed more than once`)
    seen.add(n)
    ran += 1
  }
  return ran
}
