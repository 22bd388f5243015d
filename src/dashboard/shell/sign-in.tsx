/** Asks for a token, when the server wants one. It stays in this tab. */
import { useDashboard } from "../app/dashboard.ts"
import { Mark } from "../marks/icon.tsx"
import { Button } from "../parts/button.tsx"

export function SignIn() {
  const { token, denied, pulse } = useDashboard()
  const refused = token.value !== undefined
  return (
    <main class="sign-in">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault()
          // What the field holds now: a letter typed just before Enter is not rendered yet.
          const typed = String(new FormData(event.currentTarget).get("token") ?? "").trim()
          if (typed === "") return
          token.value = typed
          denied.value = false
          pulse.value += 1
        }}
      >
        <span class="brand">
          <Mark />
          <h1>Carillon</h1>
        </span>
        <label class="labelled">
          Token
          <input class="field" type="password" name="token" autocomplete="off" aria-invalid={refused} />
          <small>
            {refused ? "The server does not accept this token. " : ""}
            It looks like <code>carillon_…</code> and stays in this tab. A token with the scope read shows
            everything.
          </small>
        </label>
        <Button type="submit" tone="first" onPress={() => {}}>
          Open the dashboard
        </Button>
      </form>
    </main>
  )
}
