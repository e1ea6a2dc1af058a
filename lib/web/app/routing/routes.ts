// Views of the application by address. Each view is a module of its own, loaded when it is first opened.
import type { FunctionComponent } from 'preact'

/** Values of the `:name` parts of the pattern. */
export type ViewProps = { params: Record<string, string> }

export type Route = {
  /** Path with `:name` for one segment. */
  pattern: string
  load: () => Promise<{ View: FunctionComponent<ViewProps> }>
  /** Style sheets of the view, below the folder of the application. */
  styles?: readonly string[]
  /** `plain`: without navigation, for readers and sign-in. */
  frame?: 'plain'
  /** `public`: also signed out. Otherwise a permission that the account needs, or none. */
  access?: 'public' | (string & {})
}

export const routes: readonly Route[] = [
  { pattern: '', load: () => import('../home/home-view.ts') },
  {
    pattern: 'account',
    load: () => import('../account/account-view.ts'),
    styles: ['account/account.css'],
  },
  {
    pattern: 'account/keys',
    load: () => import('../account/keys-view.ts'),
    styles: ['account/account.css'],
    access: 'ApiKeysRead',
  },
  {
    pattern: 'books/:id/read',
    load: () => import('../reader/reader-view.ts'),
    styles: ['reader/reader.css'],
    frame: 'plain',
    access: 'PagesRead',
  },
  {
    pattern: 'admin/users',
    load: () => import('../admin-accounts/users-view.ts'),
    styles: ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    access: 'UsersRead',
  },
  {
    pattern: 'admin/users/:id',
    load: () => import('../admin-accounts/user-view.ts'),
    styles: ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    access: 'UsersRead',
  },
  {
    pattern: 'admin/settings',
    load: () => import('../admin-accounts/settings-view.ts'),
    styles: ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    access: 'SystemAdmin',
  },
  {
    pattern: 'register',
    load: () => import('../account/register-view.ts'),
    frame: 'plain',
    access: 'public',
  },
  {
    pattern: 'setup',
    load: () => import('../setup/setup-view.ts'),
    styles: ['manage/manage.css', 'setup/setup.css'],
    frame: 'plain',
    access: 'public',
  },
  {
    pattern: 'sign-in',
    load: () => import('../account/sign-in-view.ts'),
    frame: 'plain',
    access: 'public',
  },
]

export type Match = { route: Route; params: Record<string, string> }

/** The route of a path; null for an unknown one. */
export function matchRoute(path: string): Match | null {
  const segments = path.split('/')
  for (const route of routes) {
    const parts = route.pattern.split('/')
    if (parts.length !== segments.length) continue
    const params: Record<string, string> = {}
    const matches = parts.every((part, i) => {
      if (!part.startsWith(':')) return part === segments[i]
      params[part.slice(1)] = segments[i]!
      return segments[i] !== ''
    })
    if (matches) return { route, params }
  }
  return null
}
