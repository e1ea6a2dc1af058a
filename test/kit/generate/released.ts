// Stores the database of the version in package.json (npm run released), a step of each release: from then on a test
// upgrades it.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../../lib/base/version.ts'
import { releasedFolder, writeReleased } from './released-database.ts'

const ends: (() => unknown)[] = []
try {
  mkdirSync(releasedFolder, { recursive: true })
  const scope = { teardown: (end: unknown) => void ends.push(end as () => unknown) }
  await writeReleased(scope as never, join(releasedFolder, `${version}.backup`))
} finally {
  for (const end of ends.reverse()) await end()
}
