/** Links to pages of the dashboard. */
import type { ComponentChildren } from "preact"
import { useDashboard } from "../app/dashboard.ts"

interface LinkProps {
  readonly to: string
  readonly params?: Readonly<Record<string, string>>
  readonly class?: string
  readonly title?: string
  readonly current?: boolean
  readonly children: ComponentChildren
}

export function Link({ to, params, class: className, title, current, children }: LinkProps) {
  const { router } = useDashboard()
  return (
    <a
      href={router.href(to, params)}
      class={className}
      title={title}
      aria-current={current ? "page" : undefined}
    >
      {children}
    </a>
  )
}

/** The end of the id of a run: its beginning is time, and looks alike. */
export function shortId(id: string): string {
  return id.length > 12 ? id.slice(-8) : id
}

export function RunLink({ id }: { readonly id: string }) {
  return (
    <Link to={`runs/${encodeURIComponent(id)}`} title={id} class="mono">
      {shortId(id)}
    </Link>
  )
}
