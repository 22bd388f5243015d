/** The bar above the page: where one is, search, times, live, theme, and who one is. */
import { type Theme, useDashboard } from "../app/dashboard.ts"
import { clockText, placeOf, type TimeMode } from "../app/times.ts"
import { Icon } from "../marks/icon.tsx"
import { IconButton } from "../parts/button.tsx"
import { Choice } from "../parts/choice.tsx"
import { Link, shortId } from "../parts/link.tsx"
import type { PageEntry } from "./pages.ts"

const THEMES: Readonly<Record<Theme, { readonly next: Theme; readonly icon: "light" | "dark" | "both" }>> = {
  system: { next: "dark", icon: "both" },
  dark: { next: "light", icon: "dark" },
  light: { next: "system", icon: "light" },
}

interface TopBarProps {
  readonly entry: PageEntry | undefined
  readonly name: string | undefined
  readonly onFind: () => void
}

export function TopBar({ entry, name, onFind }: TopBarProps) {
  const { theme, live, lostSince, session } = useDashboard()
  const { next, icon } = THEMES[theme.value]
  const isLost = lostSince.value !== undefined
  const keys = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘K" : "Ctrl K"
  const { actor, scopes } = session.value ?? {}
  const environment = session.value?.environment ?? "development"
  const readOnly = scopes !== undefined && !scopes.includes("operate") && !scopes.includes("admin")
  return (
    <header class="top">
      <div class="crumbs">
        {name !== undefined && entry && (
          <>
            <Link to={entry.path}>{entry.title}</Link>
            <span class="dim" aria-hidden="true">
              /
            </span>
          </>
        )}
        <h1 class={entry?.path === "runs" && name !== undefined ? "mono" : undefined}>
          {name === undefined ? (entry?.title ?? "Not found") : entry?.path === "runs" ? shortId(name) : name}
        </h1>
        <span class="badge badge-line phone-only">{environment}</span>
      </div>
      <button type="button" class="find" onClick={onFind}>
        <Icon name="search" />
        <span>Search, jump or act</span>
        <kbd>{keys}</kbd>
      </button>
      <TimeModes />
      <Clock />
      <button
        type="button"
        class={isLost ? "live live-lost" : "live"}
        aria-pressed={live.value}
        title={live.value ? "Pause live changes (L)" : "Go on live (L)"}
        onClick={() => {
          live.value = !live.value
        }}
      >
        {isLost ? "Lost" : live.value ? "Live" : "Paused"}
      </button>
      <IconButton
        icon={icon}
        label={`Theme: ${theme.value}. Change to ${next}`}
        onPress={() => {
          theme.value = next
        }}
      />
      {(actor !== undefined || readOnly) && (
        <span class="who">
          {actor}
          {readOnly && <span class="badge badge-line">read-only</span>}
        </span>
      )}
    </header>
  )
}

function TimeModes() {
  const { mode, scheduleZone, router } = useDashboard()
  const options: (readonly [TimeMode, string])[] = [
    ["local", "Local"],
    ["utc", "UTC"],
  ]
  if (scheduleZone.value !== undefined) options.push(["schedule", "Schedule"])
  return (
    <Choice
      label="Times"
      class="zone-switch"
      value={mode.value === "schedule" && scheduleZone.value === undefined ? "local" : mode.value}
      options={options}
      onChoose={(chosen) => {
        mode.value = chosen
        router.setParam("time", chosen === "local" ? undefined : chosen)
      }}
    />
  )
}

function Clock() {
  const { nowMs, zone } = useDashboard()
  return (
    <span class="clock" title="The time of the server">
      <b>{clockText(nowMs.value, zone.value)}</b> {placeOf(zone.value)}
    </span>
  )
}
