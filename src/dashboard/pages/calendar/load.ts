/** How many fires fall into each step of time. */
import type { CalendarEntry } from "../../app/records.ts"

export interface Step {
  readonly atMs: number
  readonly fires: number
  readonly names: readonly string[]
}

export function loadOf(
  entries: readonly CalendarEntry[],
  fromMs: number,
  toMs: number,
  stepMs: number,
): readonly Step[] {
  const count = Math.ceil((toMs - fromMs) / stepMs)
  const steps = Array.from({ length: count }, (_, index) => ({
    atMs: fromMs + index * stepMs,
    fires: 0,
    names: new Set<string>(),
  }))
  const put = (name: string, at: string, fires: number) => {
    const step = steps[Math.floor((Date.parse(at) - fromMs) / stepMs)]
    if (!step) return
    step.fires += fires
    step.names.add(name)
  }
  for (const { name, planned, fires } of entries) {
    for (const at of planned) put(name, at, 1)
    for (const fire of fires) if (fire.run !== undefined) put(name, fire.occurrence, 1)
  }
  return steps.map((step) => ({ ...step, names: [...step.names] }))
}
