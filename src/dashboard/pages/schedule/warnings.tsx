/** What may be unexpected about the times of a schedule: clock changes, uneven steps, months that are passed over. */
import { useEffect, useState } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import type { Schedule } from "../../app/records.ts"
import { StateMark } from "../../marks/state-mark.tsx"

interface Preview {
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}

export function Warnings({ spec }: { readonly spec: Schedule["spec"] }) {
  const { api } = useDashboard()
  const [preview, setPreview] = useState<Preview>()
  const asked = JSON.stringify(spec)
  useEffect(() => {
    let isCurrent = true
    // A schedule that cannot be read says so elsewhere on the page.
    api.send<Preview>("POST", "/schedules/preview", { ...JSON.parse(asked), count: 0 }).then(
      (answer) => isCurrent && setPreview(answer),
      () => isCurrent && setPreview(undefined),
    )
    return () => {
      isCurrent = false
    }
  }, [asked, api])
  if (!preview || preview.warnings.length === 0) return null
  return (
    <ul class="warnings">
      {preview.warnings.map(({ code, message }) => (
        <li key={code + message}>
          <StateMark name={code.startsWith("dst") ? "notice" : "warning"} />
          <span>
            {message} <span class="dim">{code}</span>
          </span>
        </li>
      ))}
    </ul>
  )
}
