// Frame of the administration pages: navigation between them above the heading of the page.
import { t } from '../text/translate.ts'
import { type SectionEntry, SectionPage, type SectionPageProps } from '../ui/page-header.tsx'

const entries: readonly SectionEntry[] = [
  { path: 'admin', icon: 'chart', text: 'admin.overview', permission: 'LibrariesWrite' },
  {
    path: 'admin/libraries',
    icon: 'library',
    text: 'nav.libraries',
    permission: 'LibrariesWrite',
  },
  { path: 'admin/tasks', icon: 'tasks', text: 'admin.tasks', permission: 'TasksRead' },
  { path: 'admin/errors', icon: 'error', text: 'admin.errors', permission: 'BooksWrite' },
  { path: 'admin/duplicates', icon: 'copy', text: 'admin.duplicates', permission: 'BooksWrite' },
  { path: 'admin/sources', icon: 'search', text: 'admin.sources', permission: 'PluginsManage' },
  { path: 'admin/matching', icon: 'check', text: 'admin.matching', permission: 'SeriesWrite' },
  { path: 'admin/users', icon: 'users', text: 'admin.users', permission: 'UsersRead' },
  { path: 'admin/settings', icon: 'settings', text: 'admin.settings', permission: 'SystemAdmin' },
  { path: 'admin/backups', icon: 'download', text: 'admin.backups', permission: 'SystemAdmin' },
  { path: 'admin/health', icon: 'pulse', text: 'admin.health', permission: 'LibrariesWrite' },
]

/** A page of the administration. Needs the style sheet `admin/admin.css`. */
export const AdminFrame = (props: SectionPageProps) => (
  <SectionPage label={t('nav.admin')} entries={entries} {...props} />
)
