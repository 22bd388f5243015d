/** The pages, on the left or at the bottom of a phone. Counts stand only where a person has to act. */
import { useEffect, useState } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import { cappedText } from "../app/numbers.ts"
import type { Count } from "../app/records.ts"
import { useQuery } from "../app/use-query.ts"
import { Icon, Mark } from "../marks/icon.tsx"
import { IconButton } from "../parts/button.tsx"
import { Link } from "../parts/link.tsx"
import { PAGES } from "./pages.ts"

const GROUPS = ["Work", "Capacity", "System"] as const
const STORED = "carillon.navigation"
const NARROW = "(max-width: 1180px)"

export function Navigation({ current }: { readonly current: string }) {
  const { session } = useDashboard()
  const [narrow, setNarrow] = useState(
    localStorage.getItem(STORED) === "narrow" || matchMedia(NARROW).matches,
  )
  const dead = useQuery<Count>("/runs/count?filter=state:dead", { everyMs: 15_000 })
  useEffect(() => {
    document.documentElement.dataset["nav"] = narrow ? "narrow" : "wide"
  }, [narrow])
  useEffect(() => {
    const query = matchMedia(NARROW)
    const changed = () => setNarrow(query.matches || localStorage.getItem(STORED) === "narrow")
    query.addEventListener("change", changed)
    return () => query.removeEventListener("change", changed)
  }, [])
  const { environment = "development", version } = session.value ?? {}
  const word = environment.charAt(0).toUpperCase() + environment.slice(1)
  return (
    <nav class="nav" aria-label="Pages">
      <Link to="" class="brand">
        <Mark />
        <b>Carillon</b>
      </Link>
      <div class={`environment environment-${environment}`} title={word}>
        <b>{narrow ? word.charAt(0) : word}</b>
      </div>
      {GROUPS.map((group) => (
        <>
          <h2>{group}</h2>
          <ul>
            {PAGES.filter((page) => page.group === group).map(({ path, title, icon }) => (
              <li key={path}>
                <Link to={path} current={path === current} {...(narrow && { title })}>
                  <Icon name={icon} />
                  <span class="label">{title}</span>
                  {narrow && <span class="unseen">{title}</span>}
                  {path === "dead-letters" && dead.data !== undefined && dead.data.count > 0 && (
                    <span class="count">{cappedText(dead.data)}</span>
                  )}
                </Link>
              </li>
            ))}
          </ul>
        </>
      ))}
      <div class="nav-foot">
        <span class="version">{version === undefined ? "Carillon" : `Carillon ${version}`}</span>
        <IconButton
          icon={narrow ? "right" : "left"}
          label={narrow ? "Widen the navigation" : "Narrow the navigation"}
          small
          onPress={() => {
            localStorage.setItem(STORED, narrow ? "wide" : "narrow")
            setNarrow(!narrow)
          }}
        />
      </div>
    </nav>
  )
}

const ON_PHONE = ["", "runs", "schedules", "dead-letters"]

export function BottomBar({ current, onMore }: { readonly current: string; readonly onMore: () => void }) {
  return (
    <nav class="bottom" aria-label="Pages, short">
      {PAGES.filter(({ path }) => ON_PHONE.includes(path)).map(({ path, title, icon }) => (
        <Link key={path} to={path} current={path === current}>
          <Icon name={icon} />
          {title}
        </Link>
      ))}
      <button type="button" onClick={onMore}>
        <Icon name="menu" />
        More
      </button>
    </nav>
  )
}
