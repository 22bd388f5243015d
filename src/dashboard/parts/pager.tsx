/** The pages of a list: forward by the cursor of the server, back by those that came before. */
import { useEffect, useState } from "preact/hooks"
import { Button } from "./button.tsx"

export interface Cursors {
  readonly cursor: string | undefined
  readonly isFirst: boolean
  readonly next: (cursor: string) => void
  readonly back: () => void
}

/** Starts again when the question changes. */
export function useCursors(question: string): Cursors {
  const [trail, setTrail] = useState<{ readonly question: string; readonly cursors: readonly string[] }>({
    question,
    cursors: [],
  })
  useEffect(() => setTrail({ question, cursors: [] }), [question])
  const cursors = trail.question === question ? trail.cursors : []
  return {
    cursor: cursors.at(-1),
    isFirst: cursors.length === 0,
    next: (cursor) => setTrail({ question, cursors: [...cursors, cursor] }),
    back: () => setTrail({ question, cursors: cursors.slice(0, -1) }),
  }
}

interface PagerProps {
  readonly cursors: Cursors
  readonly nextCursor: string | undefined
  readonly newer?: string
  readonly older?: string
}

export function Pager({ cursors, nextCursor, newer = "Newer", older = "Older" }: PagerProps) {
  if (cursors.isFirst && nextCursor === undefined) return null
  return (
    <span class="line end">
      <Button
        small
        icon="left"
        refusal={cursors.isFirst ? "This is the first page." : undefined}
        onPress={cursors.back}
      >
        {newer}
      </Button>
      <Button
        small
        refusal={nextCursor === undefined ? "This is the last page." : undefined}
        onPress={() => nextCursor !== undefined && cursors.next(nextCursor)}
      >
        {older}
      </Button>
    </span>
  )
}
