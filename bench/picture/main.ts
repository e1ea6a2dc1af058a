// Pictures of the web application for README and docs/web.md: the home page in both themes and a page of a series, of a
// server over libraries that are generated here; all titles, names and covers are invented. Needs Chromium, and looks as
// intended with Debian's packages fonts-inter fonts-bebas-neue fonts-ebgaramond fonts-kaushanscript fonts-league-spartan
// fonts-reggae fonts-roboto-slab fonts-yanone-kaffeesatz.
// npm run bench -- picture [--out docs/pictures] [--keep]: keeps the libraries and the data, and prints where they are
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startStackroom, stopProcess } from '../kit/server-process.ts'
import { print } from '../kit/stackroom.ts'
import { createLibraries } from './library.ts'
import { paint } from './paint.ts'
import { createReader } from './reading.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(import.meta.dirname, '..', '..', 'docs', 'pictures') },
    keep: { type: 'boolean', default: false },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'stackroom-picture-'))
const data = join(folder, 'data')
try {
  await createLibraries(folder, data)
  const { child, base } = await startStackroom(['--data', data, '--log-level', 'error'])
  try {
    const reader = await createReader(base)
    for (const file of await paint(base, reader, values.out))
      print({ file, bytes: statSync(file).size })
  } finally {
    await stopProcess(child)
  }
} finally {
  if (values.keep) print({ folder })
  else rmSync(folder, { recursive: true })
}
