// Frame of the administration pages: navigation between them above the heading of the page.
import type { ComponentChildren } from 'preact'
import { t } from '../text/translate.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { type SectionEntry, SectionNavigation } from '../ui/section-navigation.tsx'

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
  { path: 'admin/users', icon: 'users', text: 'admin.users', permission: 'UsersRead' },
  { path: 'admin/settings', icon: 'settings', text: 'admin.settings', permission: 'SystemAdmin' },
  { path: 'admin/health', icon: 'pulse', text: 'admin.health', permission: 'LibrariesWrite' },
]

type AdminFrameProps = {
  /** Page heading and window title. */
  title: string
  subtitle?: ComponentChildren
  /** Buttons and menus beside the heading. */
  actions?: ComponentChildren
  children: ComponentChildren
}

/** A page of the administration. Needs the style sheet `admin/admin.css`. */
export function AdminFrame({ title, subtitle, actions, children }: AdminFrameProps) {
  return (
    <>
      <SectionNavigation label={t('nav.admin')} entries={entries} />
      <PageHeader title={title} subtitle={subtitle} actions={actions} />
      {children}
    </>
  )
}
