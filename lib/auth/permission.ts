// What an account may do: the names on the wire, what each role holds, and how a key narrows it.
import { Invalid } from '../errors.ts'

/** Every permission by its name on the wire. */
export const permissionNames = [
  'LibrariesRead',
  'LibrariesWrite',
  'LibrariesDelete',
  'SeriesRead',
  'SeriesWrite',
  'SeriesDelete',
  'BooksRead',
  'BooksWrite',
  'BooksDelete',
  'PagesRead',
  'ProgressRead',
  'ProgressWrite',
  'CollectionsRead',
  'CollectionsWrite',
  'CollectionsDelete',
  'ReadListsRead',
  'ReadListsWrite',
  'ReadListsDelete',
  'UsersRead',
  'UsersWrite',
  'UsersDelete',
  'ApiKeysRead',
  'ApiKeysWrite',
  'ApiKeysDelete',
  'TasksRead',
  'TasksWrite',
  'PluginsManage',
  'SystemHealth',
  'SystemAdmin',
] as const
export type Permission = (typeof permissionNames)[number]

/** From the least to the most trusted. */
export const roles = ['reader', 'maintainer', 'admin'] as const
export type Role = (typeof roles)[number]

const reader: readonly Permission[] = [
  'LibrariesRead',
  'SeriesRead',
  'BooksRead',
  'PagesRead',
  'ProgressRead',
  'ProgressWrite',
  'CollectionsRead',
  'ReadListsRead',
  'ApiKeysRead',
  'ApiKeysWrite',
  'ApiKeysDelete',
  'SystemHealth',
]
const maintainer: readonly Permission[] = [
  ...reader,
  'LibrariesWrite',
  'SeriesWrite',
  'SeriesDelete',
  'BooksWrite',
  'BooksDelete',
  'CollectionsWrite',
  'CollectionsDelete',
  'ReadListsWrite',
  'ReadListsDelete',
  'TasksRead',
  'TasksWrite',
]

/** What a role holds by itself. */
export const permissionsOfRole: Record<Role, readonly Permission[]> = {
  reader,
  maintainer,
  admin: permissionNames,
}

const reading: ReadonlySet<Permission> = new Set([
  'LibrariesRead',
  'SeriesRead',
  'BooksRead',
  'PagesRead',
  'ProgressRead',
  'ProgressWrite',
  'CollectionsRead',
  'ReadListsRead',
] as const)

/** Those that a reader's app has no use for. */
export function beyondReading(permissions: ReadonlySet<Permission>): Permission[] {
  return [...permissions].filter(name => !reading.has(name))
}

const bySpelling = new Map(permissionNames.map(name => [name.toLowerCase(), name]))

/** The permission meant by `LibrariesRead`, `libraries-read`, `libraries:read`, `LIBRARIES_READ`. Throws Invalid. */
export function parsePermission(text: string): Permission {
  const known = bySpelling.get(text.replace(/[-:_\s]/g, '').toLowerCase())
  if (known) return known
  throw new Invalid('There is no permission of this name', { details: { known: permissionNames } })
}

/** Each once, in the order of `permissionNames`. Throws Invalid at the first that is unknown. */
export function parsePermissions(texts: readonly string[]): Permission[] {
  const meant = new Set(texts.map(parsePermission))
  return permissionNames.filter(name => meant.has(name))
}

/** What a role and its extras allow, within what an API key lists; null is not a key. SystemAdmin stands for all. */
export function effective(
  role: Role,
  extras: readonly string[],
  ofKey: readonly string[] | null,
): ReadonlySet<Permission> {
  const own = whole([...permissionsOfRole[role], ...extras])
  return ofKey === null ? own : own.intersection(whole(ofKey))
}

// Names that this version does not know stay in the rows and mean nothing.
function whole(names: readonly string[]): Set<Permission> {
  if (names.includes('SystemAdmin')) return new Set(permissionNames)
  return new Set(permissionNames.filter(name => names.includes(name)))
}
