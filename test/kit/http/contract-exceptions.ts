// Refusals that a JSON Schema cannot state: by values of other fields, by the state of the catalog, by
// languages inside strings. And members of bodies without which everything is refused.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Exception } from './contract.ts'

export const contractExceptions: readonly Exception[] = [
  {
    operation: /libraries/,
    message: /is not a readable directory|cannot be read|is outside|inside the folder/,
    reason: 'folders that exist on the server',
  },
  {
    operation: /filesystem\/browse/,
    message: /is not a readable directory|is not a directory|path/,
    reason: 'folders that exist on the server',
  },
  {
    operation: /libraries/,
    message: /strategy|Configuration must/,
    reason: 'keys of a strategy, which depend on the strategy',
  },
  {
    operation: /libraries/,
    message: /excludedPatterns/,
    reason: 'lengths of the lines of a text',
  },
  {
    operation: /libraries|release-sources/,
    message: /A schedule has five fields|cronSchedule is not valid/,
    reason: 'cron syntax',
  },
  {
    operation: /aliases/,
    message: /must have letters or digits/,
    reason: 'classes of characters',
  },
  { operation: /libraries/, message: /IANA time zone/, reason: 'names of time zones' },
  {
    operation: /libraries|matching/,
    message: /requires a list|regular expression|pattern/,
    reason: 'regular expressions, and values that depend on an operator',
  },
  { operation: /metadata/, message: /language tag/, reason: 'BCP 47 syntax' },
  { operation: /metadata/, message: /valid ISBNs/, reason: 'check digits of ISBNs' },
  {
    operation: /external-(ids|links)/,
    message: /http or https URL/,
    reason: 'URL syntax beyond the scheme',
  },
  {
    operation: /settings/,
    message: /must be|must not|is not|Unknown/i,
    reason: 'types of settings, which depend on the key',
  },
  {
    operation: /templates\/preview/,
    message: /Only one of/,
    reason: 'fields that exclude each other',
  },
  { operation: /./, message: /cannot be stored/, reason: 'null characters inside free-form JSON' },
  {
    operation: /progression|annotations/,
    message: /locator|does not refer|does not exist/,
    reason: 'locators, which depend on the book',
  },
  {
    operation: /\/annotations/,
    message: /is not a valid time|exclude each other/,
    reason: 'years before 1970, and parameters that exclude each other',
  },
  {
    operation: /progress$/,
    message: /must have currentPage/,
    reason: 'a progress without any value',
  },
  { operation: /api-keys/, message: /in the future/, reason: 'times in the past' },
  {
    operation: /users|sharing-tags|register/,
    message: /Library not found|Sharing tag not found/,
    reason: 'ids of what is not there',
  },
  {
    operation: /users|register|auth/,
    message: /contains @ must be|Not a valid e-mail|current password|token is unknown/i,
    reason: 'credentials, and names that look like an address',
  },
  {
    operation: /verify-email/,
    message: /doctype/,
    reason: 'credentials, and names that look like an address',
  },
  {
    operation: /setup\/initialize|register|PATCH \/api\/v1\/user$/,
    message: /already set up|API key cannot|Registration is disabled/,
    reason: 'the state of the server and the kind of credentials, which are checked first',
  },
  {
    operation: /collections/,
    message: /ordered by hand|condition/,
    reason: 'conditions, which exclude an order by hand, and their values',
  },
  {
    operation: /filter-presets/,
    message: /condition/,
    reason: 'conditions, which depend on the target',
  },
  {
    operation: /want-to-read$/,
    message: /either seriesId or bookId/,
    reason: 'one of two fields',
  },
  {
    operation: /reading-stats/,
    message: /is not a time|is before|the limit is/,
    reason: 'times or dates, names of time zones, the length of a window',
  },
  {
    operation: /admin\/(?:sources|plugins)/,
    message: /config|credentials|The limit is/,
    reason: 'settings, which depend on the type',
  },
  { operation: /retry/, message: /has no/, reason: 'books without an error' },
]

/** By operation id; `folder` is an existing folder. */
export const neededMembers = (folder: string) => ({
  createLibrary: (count: number) => ({ name: `library ${count}`, path: ownFolder(folder, count) }),
  previewScan: () => ({ path: folder }),
  createSource: (count: number) => ({
    type: 'feed',
    name: `source-${count}`,
    config: { url: 'http://192.0.2.1/feed' },
  }),
  createUser: uniqueAccount,
  register: uniqueAccount,
})

function ownFolder(folder: string, count: number): string {
  const path = join(folder, String(count))
  mkdirSync(path, { recursive: true })
  return path
}

const uniqueAccount = (count: number) => ({
  username: `account-${count}`,
  email: `account-${count}@example.org`,
  password: 'Strong-pass-1!',
})
