// Runs the program on the platforms that the documentation names, cell by cell (cells.ts):
//   npm run bench -- platforms [--only PATTERN] [--list] [--work DIR] [--mirror URL] [--registry URL]
//   npm run bench -- platforms --quick
// Needs Linux, root and debootstrap; --quick needs none of them but Linux, and runs this checkout as it is.
// What is downloaded remains in the work folder for the next run. What runs is the last commit of this checkout.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCell } from './cell.ts'
import { cellName, cells } from './cells.ts'
import { openWorkFolder, readHost } from './host.ts'
import { runQuickCell } from './quick.ts'
import { printReport, printRow, type Row } from './report.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    work: { type: 'string' },
    mirror: { type: 'string' },
    registry: { type: 'string' },
  },
})

// Also removes what this process has started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const chosen = cells.filter(cell => new RegExp(values.only).test(cellName(cell)))
if (values.list) {
  process.stdout.write(chosen.map(cell => `${cellName(cell)}\n`).join(''))
} else if (!values.quick && process.getuid?.() !== 0) {
  process.stderr.write('Clean roots need root; --quick runs without.\n')
  process.exitCode = 2
} else {
  const folder = values.work ?? join(tmpdir(), `stackroom-platforms-${process.getuid?.() ?? 0}`)
  const work = openWorkFolder(folder)
  const host = readHost(values)
  const rows: Row[] = []
  const runs = values.quick
    ? [() => runQuickCell(host, work)]
    : chosen.map(cell => () => runCell(host, work, cell))
  for (const start of runs) {
    const row = await start()
    printRow(row)
    rows.push(row)
  }
  process.exitCode = printReport(rows) > 0 ? 1 : 0
}
