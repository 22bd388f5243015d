/** Ends a call at its deadline, whether or not the work behind it ends. */
import type { Host } from "../runtime/host.ts"

export interface Deadline<T> {
  readonly atMs: number
  readonly work: Promise<T>
  /** What to give up then, and the error to fail with. */
  readonly onLate: () => Error
}

export async function withDeadline<T>(host: Host, { atMs, work, onLate }: Deadline<T>): Promise<T> {
  let timer: { cancel: () => void } | undefined
  const late = new Promise<never>((_, reject) => {
    timer = host.after(atMs - host.monotonicMs(), () => reject(onLate()))
  })
  return Promise.race([work, late]).finally(() => timer?.cancel())
}
