// Which library settings a caller may change: some make the server read folders, some lead to the deletion of
// books.
import type { Permission } from '../../accounts/permission.ts'
import { isLimited, type Viewer } from '../../accounts/viewer.ts'
import { Forbidden } from '../../base/errors.ts'

export type SettingsAccess = {
  permissions: ReadonlySet<Permission>
  viewer: Viewer
  /** Whether nothing on the server is hidden from the caller. */
  hasFolders: boolean
}

export type SettingsChange = {
  /** Names of the columns. */
  changed: readonly string[]
  followsLinks: boolean
  purgedBefore: boolean
  purges: boolean
}

// With these, existing books can count as missing, and the purge after a scan deletes them.
const selectingColumns = ['allowed_formats', 'excluded_patterns', 'follow_links', 'root']

/** Throws Forbidden for a change whose effect the caller could not achieve directly. */
export function requireSettingsAccess(access: SettingsAccess, change: SettingsChange): void {
  const { changed, followsLinks, purgedBefore, purges } = change
  if (followsLinks && changed.includes('follow_links') && !access.hasFolders)
    throw new Forbidden('Missing required permission: SystemAdmin')
  if (purges && (!purgedBefore || selectingColumns.some(column => changed.includes(column))))
    requireDeletion(access)
}

/** Throws Forbidden unless the caller may delete all missing books of a visible library. */
function requireDeletion({ permissions, viewer }: SettingsAccess) {
  if (permissions.has('SystemAdmin')) return
  if (!permissions.has('BooksDelete'))
    throw new Forbidden('Missing required permission: BooksDelete')
  if (isLimited(viewer)) throw new Forbidden('Missing required permission: SystemAdmin')
}
