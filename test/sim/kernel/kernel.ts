/**
 * The order of everything: one thing happens at a time, at its virtual moment, and chance decides between those that
 * could happen at the same one.
 *
 * Between two of them everything that follows from the first is let happen: one turn of the event loop, in which
 * nothing real is waited for. A process that is paused has its things put off; those of a dead one never happen.
 */
import type { Chance } from "./seeded-random.ts"
import type { Trace } from "./trace.ts"

/** Whose things happen: a simulated process, in one of its lives. */
export interface Owner {
  readonly isAlive: () => boolean
  /** Nothing of it happens before this moment. */
  readonly pausedUntilUs: () => number
}

export interface Scheduled {
  readonly cancel: () => void
}

export interface Kernel {
  readonly nowUs: () => number
  readonly chance: Chance
  /** Lets `happen` happen in so many microseconds. An event without a process happens whatever becomes of processes. */
  readonly after: (us: number, happen: () => void, owner?: Owner) => Scheduled
  readonly note: (line: string) => void
  /** Lets things happen until `isOver` says so, or nothing is left to happen. */
  readonly run: (isOver: () => boolean) => Promise<void>
  /** How many things have happened. */
  readonly steps: () => number
}

interface Event {
  atUs: number
  /** Decides between two at the same moment. */
  readonly tie: number
  readonly happen: () => void
  readonly owner: Owner | undefined
  isCancelled: boolean
}

export interface KernelParts {
  readonly chance: Chance
  readonly trace: Trace
  /** Lets everything happen that follows from the last step. */
  readonly turn: () => Promise<void>
}

export function createKernel({ chance, trace, turn }: KernelParts): Kernel {
  const heap: Event[] = []
  let nowUs = 0
  let steps = 0
  /** Put off things of one process keep their order. */
  const putOff = new Map<Owner, { untilUs: number; count: number }>()

  /** Whether it has to wait for its process. */
  function isPutOff(event: Event): boolean {
    const untilUs = event.owner?.pausedUntilUs() ?? 0
    if (event.owner === undefined || untilUs <= event.atUs) return false
    const known = putOff.get(event.owner)
    const count = known?.untilUs === untilUs ? known.count + 1 : 0
    putOff.set(event.owner, { untilUs, count })
    event.atUs = untilUs + count
    push(heap, event)
    return true
  }

  function next(): Event | undefined {
    for (;;) {
      const event = pop(heap)
      if (event === undefined) return undefined
      const isDead = event.owner !== undefined && !event.owner.isAlive()
      if (!event.isCancelled && !isDead && !isPutOff(event)) return event
    }
  }

  return {
    nowUs: () => nowUs,
    chance,
    after: (us, happen, owner) => {
      const atUs = nowUs + Math.max(0, Math.ceil(us))
      const event: Event = { atUs, tie: chance.bits(), happen, owner, isCancelled: false }
      push(heap, event)
      return {
        cancel: () => {
          event.isCancelled = true
        },
      }
    },
    note: (line) => trace.note(nowUs, line),
    run: async (isOver) => {
      while (!isOver()) {
        const event = next()
        if (event === undefined) return
        nowUs = Math.max(nowUs, event.atUs)
        steps += 1
        event.happen()
        await turn()
      }
    },
    steps: () => steps,
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atUs < other.atUs || (one.atUs === other.atUs && one.tie < other.tie)
}

function push(heap: Event[], event: Event): void {
  let at = heap.length
  heap.push(event)
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isBefore(event, heap[parent] as Event)) break
    heap[at] = heap[parent] as Event
    at = parent
  }
  heap[at] = event
}

function pop(heap: Event[]): Event | undefined {
  const [first] = heap
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1
    if (!isBefore(heap[child] as Event, last)) break
    heap[at] = heap[child] as Event
    at = child
  }
  heap[at] = last
  return first
}
