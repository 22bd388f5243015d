/** What stands around every page, and the choice of the page. */
import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import { Link } from "../parts/link.tsx"
import { Message } from "../parts/panel.tsx"
import { Banners } from "./banners.tsx"
import { type Overlay, useKeys } from "./keys.ts"
import { useLive } from "./live.ts"
import { BottomBar, Navigation } from "./navigation.tsx"
import { DETAILS, PAGES } from "./pages.ts"
import { Palette } from "./palette.tsx"
import { Shortcuts } from "./shortcuts.tsx"
import { SignIn } from "./sign-in.tsx"
import { Toasts } from "./toasts.tsx"
import { TopBar } from "./top-bar.tsx"
import { useSession } from "./use-session.ts"

export function Shell() {
  const { router, denied, session } = useDashboard()
  const [overlay, setOverlay] = useState<Overlay>()
  useSession()
  useLive()
  useKeys(setOverlay)
  const [first = "", ...rest] = router.place.value.path.split("/")
  const entry = PAGES.find(({ path }) => path === first)
  const name = rest.length > 0 ? decoded(rest.join("/")) : undefined
  const Detail = name === undefined ? undefined : DETAILS[first]
  const title = name ?? entry?.title ?? "Not found"
  useEffect(() => {
    document.title = `${title} · Carillon`
  }, [title])
  if (denied.value) return <SignIn />

  let page: ComponentChildren = <NotFound />
  if (Detail && name !== undefined) page = <Detail key={name} name={name} />
  else if (entry && name === undefined) page = <entry.page key={entry.path} />
  const environment = session.value?.environment ?? "development"
  return (
    <>
      <a class="skip" href="#page">
        Skip to content
      </a>
      <div class={`rail rail-${environment}`} />
      <div class="shell">
        <Navigation current={first} />
        <div class="grow">
          <TopBar entry={entry} name={name} onFind={() => setOverlay("palette")} />
          <Banners />
          <main id="page" tabIndex={-1}>
            {page}
          </main>
        </div>
        <BottomBar current={first} onMore={() => setOverlay("palette")} />
      </div>
      {overlay === "palette" && <Palette onClose={() => setOverlay(undefined)} />}
      {overlay === "shortcuts" && <Shortcuts onClose={() => setOverlay(undefined)} />}
      <Toasts />
    </>
  )
}

function NotFound() {
  return (
    <Message title="There is no such page" mark="notice">
      <p>The address may be from another version of the dashboard.</p>
      <Link to="" class="button">
        Overview
      </Link>
    </Message>
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
