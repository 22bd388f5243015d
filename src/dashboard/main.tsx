/** Starts the dashboard in its page. */
import { render } from "preact"
import "./styles/tokens.css"
import "./styles/base.css"
import "./styles/shell.css"
import "./styles/parts.css"
import "./styles/tables.css"
import "./styles/charts.css"
import "./styles/pages.css"
import { createDashboard, DashboardContext } from "./app/dashboard.ts"
import { Shell } from "./shell/shell.tsx"

const root = document.getElementById("app")
if (root) {
  const dashboard = createDashboard(document.baseURI)
  render(
    <DashboardContext.Provider value={dashboard}>
      <Shell />
    </DashboardContext.Provider>,
    root,
  )
}
