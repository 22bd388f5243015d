/** A gate that a test opens: code that waits at it goes on then. */
export interface Gate {
  readonly open: () => void
  readonly opened: Promise<void>
}

export function createGate(): Gate {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}
