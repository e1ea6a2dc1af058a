// Brings the programs of older versions of PostgreSQL into an image, where an upgrade finds them without a network.
// Libraries that are the same as in the packaged version, two thirds of the size, become links.
// node deploy/docker/previous-programs.ts FOLDER, the folder of the package with its node_modules
import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import {
  packageName,
  programsIn,
  readyBinaries,
} from '../../lib/store/postgres/embedded/binaries.ts'
import {
  previousMajors,
  previousPrograms,
} from '../../lib/store/postgres/embedded/previous-programs.ts'

const target = process.argv[2]!
const { native: current } = programsIn(join(target, 'node_modules', packageName()))
for (const major of previousMajors) {
  const { native, version } = await previousPrograms(major, { dataDir: target })
  for (const entry of readdirSync(native, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const same = join(current, relative(native, file))
    if (!isSame(file, same)) continue
    rmSync(file)
    symlinkSync(same, file)
  }
  readyBinaries(native, version, target)
}

function isSame(file: string, other: string): boolean {
  try {
    return readFileSync(file).equals(readFileSync(other))
  } catch {
    return false
  }
}
