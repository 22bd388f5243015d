/** The filter of a list: terms that can be taken out one by one, and a field with suggestions. */
import type { ComponentChildren } from "preact"
import { useId, useRef, useState } from "preact/hooks"
import { FIELD_HINTS, partsOf, quoted, termsOf, textOf } from "../app/filter-text.ts"
import { Icon } from "../marks/icon.tsx"
import { IconButton } from "./button.tsx"

interface FilterBarProps {
  readonly value: string
  readonly onChange: (value: string) => void
  /** Values that are known for a field: `job:` to its names. */
  readonly known: Readonly<Record<string, readonly string[]>>
  readonly children?: ComponentChildren
}

interface Suggestion {
  readonly text: string
  readonly says: string
  /** A whole term, which needs no more typing. */
  readonly isTerm: boolean
}

const MOST = 12

export function FilterBar({ value, onChange, known, children }: FilterBarProps) {
  const terms = termsOf(value)
  const [text, setText] = useState("")
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const field = useRef<HTMLInputElement>(null)
  const list = useId()
  const found = open ? suggestions(text, known) : []

  function add(term: string): void {
    const more = termsOf(term)
    setText("")
    setAt(-1)
    if (more.length > 0) onChange(textOf([...terms, ...more]))
  }
  function choose(suggestion: Suggestion): void {
    if (suggestion.isTerm) add(suggestion.text)
    else setText(suggestion.text)
    setAt(-1)
    field.current?.focus()
  }
  function onKeyDown(event: KeyboardEvent): void {
    const chosen = found[at]
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1))
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, -1))
    else if (event.key === "Enter") {
      if (chosen) choose(chosen)
      // What was typed last may not have been rendered yet.
      else add(field.current?.value ?? text)
    } else if (event.key === "Escape" && open) setOpen(false)
    else if (event.key === "Backspace" && text === "" && terms.length > 0)
      onChange(textOf(terms.slice(0, -1)))
    else return
    event.preventDefault()
  }

  return (
    <div class="filter-line">
      <search class="filter">
        <Icon name="search" />
        {terms.map((term, index) => {
          const { field: name, value: words } = partsOf(term)
          return (
            <span class="token" key={`${term}${index}`}>
              {name}
              <b>{words}</b>
              <button
                type="button"
                aria-label={`Remove ${term}`}
                onClick={() => onChange(textOf(terms.filter((_, other) => other !== index)))}
              >
                <Icon name="close" small />
              </button>
            </span>
          )
        })}
        <input
          ref={field}
          role="combobox"
          aria-expanded={found.length > 0}
          aria-controls={list}
          aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined}
          aria-label="Filter"
          aria-autocomplete="list"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={terms.length === 0 ? "job: pool: tenant: schedule: error: input.path= …" : ""}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setOpen(true)
            setAt(-1)
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setTimeout(() => setOpen(false), 150)}
          onKeyDown={onKeyDown}
        />
        {(terms.length > 0 || text !== "") && (
          <IconButton
            icon="close"
            label="Clear the filter"
            small
            onPress={() => {
              setText("")
              onChange("")
            }}
          />
        )}
        <div
          class="suggestions"
          id={list}
          role="listbox"
          aria-label="Suggestions"
          hidden={found.length === 0}
        >
          {found.map((suggestion, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
            <div
              key={suggestion.text}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === at}
              onPointerDown={(event) => {
                event.preventDefault()
                choose(suggestion)
              }}
            >
              <code>{suggestion.text}</code>
              <span class="dim cut">{suggestion.says}</span>
            </div>
          ))}
        </div>
      </search>
      {children}
    </div>
  )
}

function suggestions(
  text: string,
  known: Readonly<Record<string, readonly string[]>>,
): readonly Suggestion[] {
  const { field, value } = partsOf(text)
  const bare = field.replace(/^-/, "")
  const values = known[bare]
  if (values) {
    const wanted = value.replaceAll('"', "").toLowerCase()
    return values
      .filter((one) => one.toLowerCase().includes(wanted))
      .slice(0, MOST)
      .map((one) => ({ text: `${field}${quoted(one)}`, says: "", isTerm: true }))
  }
  if (field !== "") return []
  const wanted = value.replace(/^-/, "").toLowerCase()
  return FIELD_HINTS.filter(([start]) => start.startsWith(wanted))
    .slice(0, MOST)
    .map(([start, says]) => ({ text: `${value.startsWith("-") ? "-" : ""}${start}`, says, isTerm: false }))
}
