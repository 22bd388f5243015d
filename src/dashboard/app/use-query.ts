/** Reads a path of the API, and reads it again while the page is live. Old data stays until new data is there. */
import { useEffect, useRef, useState } from "preact/hooks"
import { useDashboard } from "./dashboard.ts"
import { type Problem, problemOf } from "./problem.ts"

export interface Query<T> {
  readonly data: T | undefined
  readonly problem: Problem | undefined
  /** The first answer takes longer than 200 ms. */
  readonly waiting: boolean
  /** It takes longer than 3 s. */
  readonly slow: boolean
  readonly tookMs: number | undefined
  readonly refresh: () => void
}

interface Answer<T> {
  readonly path: string
  readonly data?: T
  readonly problem?: Problem
  readonly tookMs?: number
}

export interface QueryOptions {
  /** Reads again after this time, while live. 0 reads once. */
  readonly everyMs?: number
  /** Shows the answer to the last path while another is read. */
  readonly keep?: boolean
}

const WAITING_MS = 200
const SLOW_MS = 3_000
const DEFAULT_EVERY_MS = 5_000

/** `undefined` as path reads nothing. */
export function useQuery<T>(path: string | undefined, options: QueryOptions = {}): Query<T> {
  const { everyMs = DEFAULT_EVERY_MS, keep = true } = options
  const { api, live, pulse, token } = useDashboard()
  const [answer, setAnswer] = useState<Answer<T>>({ path: "" })
  const [patience, setPatience] = useState<"" | "waiting" | "slow">("")
  const [round, setRound] = useState(0)
  const known = useRef("")
  const isLive = live.value
  const heard = isLive ? pulse.value : 0
  const as = token.value

  useEffect(() => {
    if (path === undefined) return
    const aborter = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const isNew = known.current !== path
    const waiting = isNew ? setTimeout(() => setPatience("waiting"), WAITING_MS) : undefined
    const slow = isNew ? setTimeout(() => setPatience("slow"), SLOW_MS) : undefined

    async function read(of: string): Promise<void> {
      const startMs = performance.now()
      try {
        const data = await api.get<T>(of, aborter.signal)
        known.current = of
        setAnswer({ path: of, data, tookMs: Math.round(performance.now() - startMs) })
      } catch (error) {
        if (aborter.signal.aborted) return
        const problem = problemOf(error)
        // What was read before is still worth more than an empty page.
        setAnswer((last) => ({
          path: of,
          ...(last.path === of && last.data !== undefined && { data: last.data }),
          problem,
        }))
      } finally {
        clearTimeout(waiting)
        clearTimeout(slow)
        if (!aborter.signal.aborted) setPatience("")
      }
      if (aborter.signal.aborted || everyMs === 0) return
      timer = setTimeout(again, everyMs)
    }
    function again(): void {
      if (path === undefined || aborter.signal.aborted) return
      if (document.visibilityState === "visible" && live.peek()) void read(path)
      else timer = setTimeout(again, everyMs)
    }
    void read(path)
    return () => {
      aborter.abort()
      clearTimeout(timer)
      clearTimeout(waiting)
      clearTimeout(slow)
    }
  }, [path, round, heard, as, everyMs])

  const shown = answer.path === path || keep ? answer : undefined
  return {
    data: path === undefined ? undefined : shown?.data,
    problem: answer.path === path ? answer.problem : undefined,
    waiting: patience !== "" && shown?.data === undefined,
    slow: patience === "slow",
    tookMs: shown?.tookMs,
    refresh: () => setRound((value) => value + 1),
  }
}
