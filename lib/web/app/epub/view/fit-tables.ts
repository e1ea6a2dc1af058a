// Tables that are wider than a page: made smaller until they fit, down to a size at which they can still be read.

const minZoom = 0.5
const maxTables = 300

/** `width`: of a column, in CSS pixels. Words are only broken in tables that do not fit otherwise. */
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
