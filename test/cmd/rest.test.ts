// Memory at rest: the read-only data of the executable is returned to the system.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { returnMemory } from '../../cmd/rest.ts'

const isPossible =
  process.platform === 'linux' && process.getBuiltinModule('node:ffi') !== undefined

t.test(
  'the data of the executable is no longer resident, and is read again when it is used',
  { skip: isPossible ? false : 'needs Linux and node:ffi' },
  async t => {
    const before = residentData()
    const isReturned = await returnMemory()
    const after = residentData()
    t.equal(isReturned, hasGlibc())
    if (isReturned) t.ok(after < before, `${after} of ${before} KiB`)
    t.equal(new Intl.DateTimeFormat('de', { month: 'long' }).format(0), 'Januar')
  },
)

/** KiB of the executable in memory, without its code. */
function residentData(): number {
  const mappings = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
  const isData = (mapping: string) => mapping.split('\n', 1)[0]!.endsWith(` ${process.execPath}`)
  return mappings
    .filter(mapping => isData(mapping) && / r--p /.test(mapping))
    .reduce((sum, mapping) => sum + Number(/^Rss: +(\d+) kB$/m.exec(mapping)![1]), 0)
}

function hasGlibc(): boolean {
  // Names of remote hosts would be looked up.
  Object.assign(process.report, { excludeNetwork: true })
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime !== undefined
}
