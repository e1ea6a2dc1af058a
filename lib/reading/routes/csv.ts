// CSV (RFC 4180) that spreadsheets do not mistake for formulas.

/** What a spreadsheet may evaluate, including the full-width signs used in Japanese and Chinese. */
const formula = /^\s*[=+\-@\t\r＝＋－＠]/

export function csvLine(values: readonly (string | number | Date | null)[]): string {
  return `${values.map(csvValue).join(',')}\r\n`
}

function csvValue(value: string | number | Date | null): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number') return String(value)
  const text = formula.test(value) ? `'${value}` : value
  return /[",\r\n]|^'|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
