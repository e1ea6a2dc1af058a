// Version of Stackroom, from package.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const packageFile = join(import.meta.dirname, '..', '..', 'package.json')
export const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
