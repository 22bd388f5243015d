/** One of a few. */
import { Link } from "./link.tsx"

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly (readonly [value: T, text: string])[]
  readonly onChoose: (value: T) => void
  readonly small?: boolean
  readonly class?: string
}

export function Choice<T extends string>({
  label,
  value,
  options,
  onChoose,
  small,
  class: more,
}: ChoiceProps<T>) {
  const classes = ["choice", small && "choice-small", more].filter(Boolean).join(" ")
  return (
    <fieldset class={classes} aria-label={label}>
      {options.map(([option, text]) => (
        <button type="button" key={option} aria-pressed={option === value} onClick={() => onChoose(option)}>
          {text}
        </button>
      ))}
    </fieldset>
  )
}

interface LinkChoiceProps {
  readonly label: string
  readonly options: readonly {
    readonly to: string
    readonly params?: Record<string, string>
    readonly text: string
    readonly current: boolean
  }[]
}

/** The same as links, where the choice is a part of the address. */
export function LinkChoice({ label, options }: LinkChoiceProps) {
  return (
    <nav class="choice" aria-label={label}>
      {options.map(({ to, params, text, current }) => (
        <Link key={text} to={to} {...(params && { params })} current={current}>
          {text}
        </Link>
      ))}
    </nav>
  )
}
