/** What actions have done. A failure stays until it is read. */
import { useDashboard } from "../app/dashboard.ts"
import { StateMark } from "../marks/state-mark.tsx"
import { Button, IconButton } from "../parts/button.tsx"
import { Link } from "../parts/link.tsx"

export function Toasts() {
  const { toasts, dismiss } = useDashboard()
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, title, detail, link, undo }) => (
        <div class="toast" key={id}>
          <StateMark name={tone} />
          <div>
            <b>{title}</b> {detail}
            {link && (
              <>
                {" "}
                <Link to={link.path} class="link">
                  {link.label}
                </Link>
              </>
            )}
          </div>
          {undo && (
            <Button
              small
              onPress={() => {
                dismiss(id)
                undo()
              }}
            >
              Undo
            </Button>
          )}
          <IconButton icon="close" label="Dismiss" small onPress={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
