/** Ends a call at its deadline, whether or not its work ends. */
import type { Host } from "../runtime/host.ts"

export interface Deadline<T> {
  readonly atMs: number
  readonly work: Promise<T>
  /** Called at the deadline: gives up the work and returns the error to fail with. */
  readonly onLate: () => Error
}

export async function withDeadline<T>(host: Host, { atMs, work, onLate }: Deadline<T>): Promise<T> {
  let timer: { cancel: () => void } | undefined
  const late = new Promise<never>((_, reject) => {
    timer = host.after(atMs - host.monotonicMs(), () => reject(onLate()))
  })
  return Promise.race([work, late]).finally(() => timer?.cancel())
}
