// Tables wider than a page: shrunk until they fit, down to a readable size.

const minZoom = 0.5
const maxTables = 300

/** `width`: column width in CSS pixels. Words are broken only in tables that do not fit otherwise. */
export function fitTables(document: Document, width: number) {
  const tables = [...document.querySelectorAll('table')].slice(0, maxTables)
  for (const table of tables) {
    table.style.removeProperty('zoom')
    delete table.dataset.fitted
  }
  const widths = tables.map(table => table.offsetWidth)
  for (const [i, table] of tables.entries()) {
    const zoom = width / widths[i]!
    if (!(zoom < 1)) continue
    table.style.setProperty('zoom', String(Math.max(minZoom, zoom)))
    if (zoom < minZoom) table.dataset.fitted = ''
  }
}
