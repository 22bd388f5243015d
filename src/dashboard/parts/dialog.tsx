/** A question before an action: what will happen, why, and a typed word when it touches many. */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef, useState } from "preact/hooks"
import type { Problem } from "../app/problem.ts"
import { Button } from "./button.tsx"
import { Failure } from "./panel.tsx"

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly wide?: boolean
  readonly class?: string
  readonly children: ComponentChildren
}

export function Dialog({ title, onClose, wide, class: className, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    ref.current?.showModal()
    ref.current?.querySelector<HTMLElement>("[data-first]")?.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={className ?? (wide ? "dialog-wide" : undefined)}
      aria-labelledby={id}
      onClose={onClose}
    >
      <div class="dialog">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

export interface Question {
  readonly title: string
  readonly body: ComponentChildren
  /** The button, which names its effect and its number. */
  readonly confirm: string
  readonly keep?: string
  readonly danger?: boolean
  /** What has to be typed: `cancel 1733`. */
  readonly word?: string | undefined
  readonly fields?: ComponentChildren
  readonly onConfirm: (reason: string) => Promise<boolean>
  readonly problem?: Problem | undefined
  readonly busy?: boolean
  readonly onClose: () => void
  readonly end?: ComponentChildren
}

export function AskDialog(question: Question) {
  const {
    title,
    body,
    confirm,
    keep = "Back",
    danger,
    word,
    fields,
    onConfirm,
    problem,
    busy,
    onClose,
  } = question
  const [reason, setReason] = useState("")
  const [typed, setTyped] = useState("")
  const missing = word !== undefined && typed.trim() !== word ? `Type ${word} first.` : undefined
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={async (event) => {
          event.preventDefault()
          if (missing !== undefined || busy) return
          if (await onConfirm(reason.trim())) onClose()
        }}
      >
        {body}
        {fields}
        <label class="labelled">
          Reason, for the audit
          <input
            class="field"
            value={reason}
            maxLength={500}
            {...(word === undefined && { "data-first": true })}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        {word !== undefined && (
          <label class="labelled">
            <span>
              Type <code>{word}</code>
            </span>
            <input
              class="field"
              data-first
              autocomplete="off"
              spellcheck={false}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </label>
        )}
        {problem && <Failure problem={problem} />}
        <div class="dialog-foot">
          {question.end}
          <span class="end" />
          <Button onPress={onClose}>{keep}</Button>
          <Button
            type="submit"
            tone={danger ? "danger" : "first"}
            refusal={missing ?? (busy ? "It is being done." : undefined)}
            onPress={() => {}}
          >
            {confirm}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
