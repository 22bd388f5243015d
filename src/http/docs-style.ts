/** The style of the page of the documentation, in the colours that the browser has for light and dark. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }
body { max-width: 64rem; margin: 0 auto; padding: 1rem; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid GrayText; }
h3 { margin-top: 2rem; font-size: 1rem; overflow-wrap: anywhere; }
h3, pre, code { font-family: ui-monospace, monospace; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
h4 { margin: 1rem 0 0.25rem; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid GrayText; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.25rem 1rem 0.25rem 0; text-align: start; vertical-align: top; }
tbody tr { border-top: 1px solid color-mix(in srgb, CanvasText 20%, Canvas); }
ul { padding-left: 1.25rem; }
:target { outline: 2px solid Highlight; outline-offset: 0.5rem; }
`
