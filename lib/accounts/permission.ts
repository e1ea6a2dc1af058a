// Permissions: wire names, roles, effective permissions of accounts and API keys.
import { Invalid } from '../base/errors.ts'

/** All permissions by wire name. */
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

/** In ascending order of privileges. */
export const roles = ['reader', 'maintainer', 'admin'] as const
export type Role = (typeof roles)[number]

/** All that a reading app needs. */
const readingApp: readonly Permission[] = [
  'LibrariesRead',
  'SeriesRead',
  'BooksRead',
  'PagesRead',
  'ProgressRead',
  'ProgressWrite',
  'CollectionsRead',
  'ReadListsRead',
]
const reader: readonly Permission[] = [
  ...readingApp,
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

/** Any one of these is enough to record reading. */
export const recordsReading = ['BooksWrite', 'ProgressWrite'] as const satisfies Permission[]

/** Permissions included in each role. */
export const permissionsOfRole: Record<Role, readonly Permission[]> = {
  reader,
  maintainer,
  admin: permissionNames,
}

/** What an administrator needs to see the application as another account does. */
export const impersonationPermission: Permission = 'UsersWrite'

/** The read-only ones. */
export function readingOnly(permissions: ReadonlySet<Permission>): ReadonlySet<Permission> {
  return new Set([...permissions].filter(name => name.endsWith('Read') || name === 'SystemHealth'))
}

/** The permissions that a reading app does not need. */
export function permissionsBeyondReading(permissions: ReadonlySet<Permission>): Permission[] {
  return [...permissions].filter(name => !readingApp.includes(name))
}

/** `api-keys-read`, `api_keys_read`, `API_KEYS_READ`, `apikeysread`, `api-keys:read`, `apikeys:read` for `ApiKeysRead`. */
function spellingsOf(name: Permission): string[] {
  const words = name.split(/(?=[A-Z])/).map(word => word.toLowerCase())
  const [resource, action] = [words.slice(0, -1), words.at(-1)]
  return [
    words.join('-'),
    words.join(' '),
    words.join('_'),
    words.join('_').toUpperCase(),
    words.join(''),
    `${resource.join('-')}:${action}`,
    `${resource.join('')}:${action}`,
  ]
}

const bySpelling = new Map<string, Permission>(
  permissionNames.flatMap(name => [name, ...spellingsOf(name)].map(text => [text, name] as const)),
)
/** Parses `LibrariesRead`, `libraries-read`, `libraries:read` or `LIBRARIES_READ`. Throws Invalid. */
export function parsePermission(text: string): Permission {
  const permission = bySpelling.get(text)
  if (permission) return permission
  throw new Invalid('Unknown permission', { details: { known: permissionNames } })
}

/** Permissions without duplicates, in the order of `permissionNames`. Throws Invalid for an unknown name. */
export function parsePermissions(texts: readonly string[]): Permission[] {
  const parsed = new Set(texts.map(parsePermission))
  return permissionNames.filter(name => parsed.has(name))
}

/** Permissions of a role plus extras, restricted to the API key's (null: no key). SystemAdmin includes all. */
export function effectivePermissions(
  role: Role,
  extras: readonly string[],
  keyPermissions: readonly string[] | null,
): ReadonlySet<Permission> {
  const own = expandAdmin([...permissionsOfRole[role], ...extras])
  return keyPermissions === null ? own : own.intersection(expandAdmin(keyPermissions))
}

// Stored names unknown to this version are ignored.
function expandAdmin(names: readonly string[]): Set<Permission> {
  if (names.includes('SystemAdmin')) return new Set(permissionNames)
  return new Set(permissionNames.filter(name => names.includes(name)))
}
