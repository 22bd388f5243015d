// Writes docs/reference/settings.md: every setting of the command line, from its table.
import { code, page, table } from "./markdown.mjs"

export async function renderSettings({ load }) {
  const { SETTINGS } = await load("cli/settings/table")
  const rows = Object.entries(SETTINGS).map(([name, setting]) => [
    code(name),
    setting.flag === undefined ? "" : code(`${setting.flag} ${setting.value}`),
    code(setting.variable) + (setting.hasPassword ? ` or ${code(`${setting.variable}_FILE`)}` : ""),
    setting.inFile === undefined ? "" : code(setting.inFile),
    setting.shownDefault || "none",
    setting.about,
  ])
  return page(
    "# Settings",
    "Commands that start a process or use a database take these settings. The flag goes first, then the variable, " +
      "then the file of configuration, then the default. `carillon config` shows each value and where it comes from.",
    "A variable that ends in `_FILE` names a file that holds the value, such as a mounted secret. An empty variable " +
      "and an empty file are errors. `--pool` replaces all pools of the file. For the file of configuration see " +
      "[Server](../guide/server.md); it also takes the other [options of `createCarillon`](options.md).",
    table(["Setting", "Flag", "Variable", "In the file", "Default", "What it is"], rows),
  )
}
