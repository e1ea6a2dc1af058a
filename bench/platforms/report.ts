// Rows of the report: one a cell with its failures while they run, a table and the warnings at the end.

export type Row = {
  cell: string
  /** Versions that ran. */
  node: string
  npm: string
  ran: string
  passed: number
  failures: string[]
  seconds: number
  /** From the first command to the first page. */
  firstPageSeconds: number | null
  downloadedMb: number | null
  diskMb: number | null
  warnings: string[]
}

const columns: [string, (row: Row) => string][] = [
  ['cell', row => row.cell],
  ['Node.js', row => row.node],
  ['npm', row => row.npm],
  ['ran', row => row.ran],
  ['passed', row => String(row.passed)],
  ['failed', row => String(row.failures.length)],
  ['first page, s', row => number(row.firstPageSeconds)],
  ['all, s', row => number(row.seconds)],
  ['downloaded, MB', row => number(row.downloadedMb)],
  ['on disk, MB', row => number(row.diskMb)],
  ['warnings', row => String(row.warnings.length)],
]

const number = (value: number | null) => (value === null ? '–' : String(Math.round(value)))
const print = (text: string) => process.stdout.write(`${text}\n`)

export function printRow(row: Row): void {
  const verdict = row.failures.length > 0 ? 'FAILED' : 'ok'
  print(`${verdict.padEnd(7)} ${columns.map(([name, of]) => `${name}: ${of(row)}`).join('; ')}`)
  for (const failure of row.failures) print(`        ${failure.replaceAll('\n', '\n        ')}`)
}

/** Returns the number of failures. */
export function printReport(rows: readonly Row[]): number {
  const line = (cells: string[]) => print(`| ${cells.join(' | ')} |`)
  print('')
  line(columns.map(([name]) => name))
  line(columns.map(() => '---'))
  for (const row of rows) line(columns.map(([, of]) => of(row)))
  for (const { cell, warnings } of rows) {
    if (warnings.length > 0) print(`\n${cell}`)
    for (const warning of warnings) print(`  warning ${warning}`)
  }
  const failed = rows.reduce((sum, row) => sum + row.failures.length, 0)
  const passed = rows.reduce((sum, row) => sum + row.passed, 0)
  print(`\nplatforms: ${rows.length} cells, ${passed} checks passed, ${failed} failed`)
  return failed
}
