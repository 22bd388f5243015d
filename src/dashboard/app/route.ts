/** Which page the address names, below any base path, and how links change it without a reload. */
import { type Signal, signal } from "@preact/signals"

export interface Place {
  /** Without the base and without slashes at the ends: `runs/0198…`. */
  readonly path: string
  readonly params: URLSearchParams
}

export interface Router {
  readonly place: Signal<Place>
  readonly href: (path: string, params?: URLSearchParams | Readonly<Record<string, string>>) => string
  readonly go: (path: string, params?: URLSearchParams | Readonly<Record<string, string>>) => void
  /** Changes one parameter of the address and keeps the others. `undefined` removes it. */
  readonly setParam: (name: string, value: string | undefined, how?: "push" | "replace") => void
}

export function createRouter(base: string): Router {
  const root = new URL(base).pathname
  const read = (): Place => ({
    path: decodeURI(location.pathname.slice(root.length)).replace(/\/+$/, ""),
    params: new URLSearchParams(location.search),
  })
  const place = signal(read())
  const href: Router["href"] = (path, params) => {
    const query = new URLSearchParams(params).toString()
    return `${root}${path}${query === "" ? "" : `?${query}`}`
  }
  const move = (to: string, how: "push" | "replace") => {
    if (how === "push") history.pushState(null, "", to)
    else history.replaceState(null, "", to)
    place.value = read()
  }

  window.addEventListener("popstate", () => {
    place.value = read()
  })
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element | null)?.closest("a")
    if (link?.target !== "" || link.hasAttribute("download")) return
    const url = new URL(link.href)
    if (url.origin !== location.origin || !url.pathname.startsWith(root) || link.dataset["plain"]) return
    if (url.hash !== "" && url.pathname === location.pathname) return
    event.preventDefault()
    const moved = url.pathname !== location.pathname
    move(url.pathname + url.search, "push")
    if (moved) {
      scrollTo(0, 0)
      document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true })
    }
  })

  return {
    place,
    href,
    go: (path, params) => {
      move(href(path, params), "push")
      scrollTo(0, 0)
    },
    setParam: (name, value, how = "replace") => {
      const params = new URLSearchParams(location.search)
      if (value === undefined || value === "") params.delete(name)
      else params.set(name, value)
      move(href(place.peek().path, params), how)
    },
  }
}
