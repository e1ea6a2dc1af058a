// Version of Stackroom, from package.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from './package.ts'

const packageFile = join(packageFolder, 'package.json')
export const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
