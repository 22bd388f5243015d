/** Two texts, line by line: what goes and what comes. */

interface DifferenceProps {
  readonly before: string
  readonly after: string
}

interface Line {
  readonly sign: "-" | "+" | " "
  readonly text: string
}

export function Difference({ before, after }: DifferenceProps) {
  return (
    <pre class="difference">
      {differenceOf(before.split("\n"), after.split("\n")).map(({ sign, text }, index) => (
        <span key={`${index}${sign}`} class={sign === "-" ? "gone" : sign === "+" ? "come" : undefined}>
          {sign} {text}
          {"\n"}
        </span>
      ))}
    </pre>
  )
}

/** Beyond this, what is common is not searched for. */
const MOST_LINES = 600

/** The lines of both, with as many in common as possible. */
export function differenceOf(before: readonly string[], after: readonly string[]): readonly Line[] {
  if (before.length > MOST_LINES || after.length > MOST_LINES) {
    return [
      ...before.map((text) => ({ sign: "-" as const, text })),
      ...after.map((text) => ({ sign: "+" as const, text })),
    ]
  }
  const common = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0))
  const at = (i: number, j: number) => common[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const row = common[i]
      if (row) row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ sign: " ", text: before[i] ?? "" })
      i += 1
      j += 1
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: "-", text: before[i] ?? "" })
      i += 1
    } else {
      lines.push({ sign: "+", text: after[j] ?? "" })
      j += 1
    }
  }
  return lines
}
