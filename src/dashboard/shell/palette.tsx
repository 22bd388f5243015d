/** The command palette: jumps to a page, a job, a schedule, a pool or any id. */
import { useEffect, useId, useRef, useState } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import { quoted } from "../app/filter-text.ts"
import type { Job, Page, Pool, Schedule } from "../app/records.ts"
import { useQuery } from "../app/use-query.ts"
import { Icon, type IconName } from "../marks/icon.tsx"
import { PAGES } from "./pages.ts"

interface Entry {
  readonly group: string
  readonly icon: IconName
  readonly text: string
  readonly note?: string
  readonly go: () => void
}

const MOST = 14
const ID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const { router, theme, live } = useDashboard()
  const [text, setText] = useState("")
  const [at, setAt] = useState(0)
  const ref = useRef<HTMLDialogElement>(null)
  const list = useId()
  const jobs = useQuery<Page<Job>>("/jobs?limit=200", { everyMs: 0 })
  const schedules = useQuery<Page<Schedule>>("/schedules?limit=200", { everyMs: 0 })
  const pools = useQuery<Page<Pool>>("/pools", { everyMs: 0 })
  useEffect(() => {
    const before = document.activeElement
    ref.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])

  const all: Entry[] = [
    ...(ID.test(text.trim())
      ? [
          {
            group: "Go to",
            icon: "runs" as const,
            text: `Run ${text.trim()}`,
            go: () => router.go(`runs/${text.trim().toLowerCase()}`),
          },
        ]
      : []),
    ...PAGES.map(({ title, path, icon, key }) => ({
      group: "Go to",
      icon,
      text: title,
      note: `g ${key}`,
      go: () => router.go(path),
    })),
    ...(schedules.data?.items ?? []).map(({ name, job }) => ({
      group: "Schedules",
      icon: "schedules" as const,
      text: name,
      note: job,
      go: () => router.go(`schedules/${encodeURIComponent(name)}`),
    })),
    ...(jobs.data?.items ?? []).map(({ name }) => ({
      group: "Runs of a job",
      icon: "jobs" as const,
      text: name,
      go: () => router.go("runs", { filter: `job:${quoted(name)}` }),
    })),
    ...(pools.data?.items ?? []).map(({ name, ready }) => ({
      group: "Runs of a pool",
      icon: "pools" as const,
      text: name,
      note: ready > 0 ? `${ready} ready` : "",
      go: () => router.go("runs", { filter: `pool:${quoted(name)}` }),
    })),
    {
      group: "Act",
      icon: "both",
      text: "Change the theme",
      go: () => {
        theme.value = theme.peek() === "dark" ? "light" : "dark"
      },
    },
    {
      group: "Act",
      icon: "pause",
      text: live.value ? "Pause live changes" : "Go on live",
      go: () => {
        live.value = !live.peek()
      },
    },
  ]
  const find = (typed: string) => {
    const wanted = typed.trim().toLowerCase()
    return all.filter((entry) => entry.text.toLowerCase().includes(wanted)).slice(0, MOST)
  }
  const found = find(text)
  const chosen = Math.min(at, Math.max(0, found.length - 1))
  /** What was typed last may not have been rendered yet. */
  const enter = (typed: string) => {
    if (ID.test(typed.trim())) {
      onClose()
      router.go(`runs/${typed.trim().toLowerCase()}`)
    } else press(typed === text ? found[chosen] : find(typed)[0])
  }
  const press = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.go()
  }
  return (
    <dialog ref={ref} class="palette" aria-label="Search, jump or act" onClose={onClose}>
      <div class="palette-find">
        <Icon name="search" />
        <input
          autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={found.length > 0 ? `${list}-${chosen}` : undefined}
          aria-label="A page, a schedule, a job, a pool or an id"
          placeholder="A page, a schedule, a job, a pool or an id"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, found.length - 1))
            else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0))
            else if (event.key === "Enter") enter(event.currentTarget.value)
            else return
            event.preventDefault()
          }}
        />
      </div>
      <div class="palette-list" id={list} role="listbox" aria-label="Found">
        {found.map((entry, index) => (
          <>
            {entry.group !== found[index - 1]?.group && <div role="presentation">{entry.group}</div>}
            {/* biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field */}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys */}
            <div
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === chosen}
              onClick={() => press(entry)}
            >
              <Icon name={entry.icon} />
              <span class="cut">{entry.text}</span>
              <span class="end dim small">{entry.note}</span>
            </div>
          </>
        ))}
        {found.length === 0 && <div role="presentation">Nothing is called that.</div>}
      </div>
      <div class="palette-foot">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> move
        </span>
        <span>
          <kbd>↵</kbd> open
        </span>
        <span class="end">or paste the id of a run</span>
      </div>
    </dialog>
  )
}
