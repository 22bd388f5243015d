/** Icons of pages and actions: strokes on a field of 16 by 16. */

const PATHS = {
  overview: "M3 3h4v5H3zM9 3h4v3H9zM3 10.5h4V13H3zM9 8.5h4V13H9z",
  runs: "M3 4h.01M3 8h.01M3 12h.01M6 4h7M6 8h7M6 12h7",
  schedules: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3.2l2 1.3",
  calendar: "M3 4h10v9.5H3zM3 7h10M5.8 2.5V5M10.2 2.5V5",
  dead: "M5.4 2.5h5.2l2.9 2.9v5.2l-2.9 2.9H5.4l-2.9-2.9V5.4zM6.2 6.2l3.6 3.6M9.8 6.2 6.2 9.8",
  pools: "M2.8 3h10.4v2.6H2.8zM2.8 6.7h10.4v2.6H2.8zM2.8 10.4h10.4V13H2.8z",
  jobs: "M8 2.3 13 5v6l-5 2.7L3 11V5zM3 5l5 2.8L13 5M8 7.8v5.9",
  metrics: "M2.8 2.8v10.4h10.4M5.2 10l2.4-3.2 2 1.7 3.3-4.3",
  bulk: "M2.8 5.2h8v8h-8zM5.4 5V2.8h7.8v7.8H11M4.9 9.3l1.4 1.4L9 7.8",
  system: "M8 14c3.2-1.5 5-3.7 5-6.6V4L8 2.2 3 4v3.4C3 10.3 4.8 12.5 8 14zM6 7.9l1.5 1.5 2.7-3",
  audit: "M4 2.5h5.5L12.5 5.5v8H4zM6.3 7.3h4M6.3 9.7h4M6.3 12h2",
  search: "M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2l3.2 3.2",
  light:
    "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.6v1.2M8 13.2v1.2M1.6 8h1.2M13.2 8h1.2" +
    "M3.5 3.5l.8.8M11.7 11.7l.8.8M12.5 3.5l-.8.8M4.3 11.7l-.8.8",
  dark: "M13 9.5A5.3 5.3 0 1 1 6.5 3a4.3 4.3 0 0 0 6.5 6.5z",
  both: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  close: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  check: "M3.5 8.5l3 3 6-7",
  add: "M8 3.5v9M3.5 8h9",
  down: "M4.5 6.5 8 10l3.5-3.5",
  right: "M6.5 4.5 10 8l-3.5 3.5",
  left: "M9.5 4.5 6 8l3.5 3.5",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  play: "M5 3.5v9L12 8z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  skip: "M4 4l5 4-5 4zM12 4v8",
  again: "M12.8 8a4.8 4.8 0 1 1-1.5-3.5M12.6 2.3v2.6H10",
  edit: "M3 13l.6-2.7 7.2-7.2 2.1 2.1-7.2 7.2z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  terminal: "M2 3h12v10H2zM4.8 6.3l2 1.8-2 1.8M8.6 10.2h2.8",
  link: "M6.8 9.2a2.4 2.4 0 0 0 3.4 0l2-2a2.4 2.4 0 0 0-3.4-3.4M9.2 6.8a2.4 2.4 0 0 0-3.4 0l-2 2a2.4 2.4 0 0 0 3.4 3.4",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  lock: "M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  save: "M8 2.5v7.5M5 7.5l3 3 3-3M3 13.3h10",
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, small = false }: { readonly name: IconName; readonly small?: boolean }) {
  return (
    <svg class={small ? "icon icon-small" : "icon"} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} stroke-width={name === "more" || name === "runs" ? 1.8 : undefined} />
    </svg>
  )
}

/** Bells on a bar: the mark of Carillon. */
export function Mark() {
  return (
    <svg viewBox="0 0 18 18" aria-hidden="true" focusable="false">
      <path
        d="M1.5 3h15M4 3v5M9 3v8M14 3v5"
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
      />
      <circle cx="4" cy="10" r="1.9" fill="currentColor" />
      <circle cx="9" cy="13.4" r="2.3" fill="currentColor" />
      <circle cx="14" cy="10" r="1.9" fill="currentColor" />
    </svg>
  )
}
