// Views of the application by address. Each view is a module of its own, loaded when it is first opened.
import type { Route } from './route.ts'

export const routes: readonly Route[] = [
  {
    pattern: '',
    load: () => import('../home/home-view.tsx'),
    styles: ['lists/lists.css', 'browse/browse.css'],
  },
  {
    pattern: 'libraries',
    load: () => import('../browse/libraries-view.tsx'),
    styles: ['browse/browse.css'],
    access: 'LibrariesRead',
  },
  {
    pattern: 'libraries/:id',
    load: () => import('../browse/library-view.tsx'),
    styles: ['lists/lists.css', 'browse/browse.css'],
    access: 'SeriesRead',
  },
  {
    pattern: 'series',
    load: () => import('../browse/series-list-view.tsx'),
    styles: ['lists/lists.css', 'browse/browse.css'],
    access: 'SeriesRead',
  },
  {
    pattern: 'series/:id',
    load: () => import('../browse/series-view.tsx'),
    styles: ['lists/lists.css', 'browse/browse.css', 'organize/rating.css'],
    access: 'SeriesRead',
  },
  {
    pattern: 'books/:id',
    load: () => import('../browse/book-view.tsx'),
    styles: ['lists/lists.css', 'browse/browse.css'],
    access: 'BooksRead',
  },
  {
    pattern: 'search',
    load: () => import('../browse/search-view.tsx'),
    styles: ['lists/lists.css', 'browse/browse.css'],
  },
  {
    pattern: 'collections',
    load: async () => ({
      View: (await import('../organize/groupings/groupings-view.tsx')).CollectionsView,
    }),
    styles: ['lists/lists.css', 'organize/organize.css'],
    access: 'CollectionsRead',
  },
  {
    pattern: 'collections/:id',
    load: async () => ({
      View: (await import('../organize/groupings/grouping-view.tsx')).CollectionView,
    }),
    styles: ['lists/lists.css', 'organize/organize.css'],
    access: 'CollectionsRead',
  },
  {
    pattern: 'readlists',
    load: async () => ({
      View: (await import('../organize/groupings/groupings-view.tsx')).ReadListsView,
    }),
    styles: ['lists/lists.css', 'organize/organize.css'],
    access: 'ReadListsRead',
  },
  {
    pattern: 'readlists/:id',
    load: async () => ({
      View: (await import('../organize/groupings/grouping-view.tsx')).ReadListView,
    }),
    styles: ['lists/lists.css', 'organize/organize.css'],
    access: 'ReadListsRead',
  },
  {
    pattern: 'want-to-read',
    load: () => import('../organize/want-to-read-view.tsx'),
    styles: ['lists/lists.css', 'organize/organize.css'],
  },
  {
    pattern: 'statistics',
    load: () => import('../statistics/statistics-view.tsx'),
    styles: ['statistics/statistics.css'],
    access: 'ProgressRead',
  },
  {
    pattern: 'account',
    load: () => import('../account/account-view.tsx'),
    styles: ['account/account.css'],
  },
  {
    pattern: 'account/keys',
    load: () => import('../account/keys-view.tsx'),
    styles: ['account/account.css'],
    access: 'ApiKeysRead',
  },
  {
    pattern: 'books/:id/read',
    load: () => import('../reader/reader-view.tsx'),
    styles: ['reader/reader.css'],
    frame: 'plain',
    access: 'PagesRead',
  },
  {
    pattern: 'admin',
    load: () => import('../admin/overview-view.tsx'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/libraries',
    load: () => import('../admin/libraries-view.tsx'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/libraries/new',
    load: () => import('../admin/new-library-view.tsx'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/libraries/:id',
    load: () => import('../admin/library-view.tsx'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/tasks',
    load: () => import('../admin/tasks-view.tsx'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'TasksRead',
  },
  {
    pattern: 'admin/errors',
    load: () => import('../admin/errors-view.tsx'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'BooksWrite',
  },
  {
    pattern: 'admin/duplicates',
    load: () => import('../admin/duplicates-view.tsx'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'BooksWrite',
  },
  {
    pattern: 'admin/health',
    load: () => import('../admin/health-view.tsx'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/users',
    load: () => import('../admin-accounts/users-view.tsx'),
    styles: ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    access: 'UsersRead',
  },
  {
    pattern: 'admin/users/:id',
    load: () => import('../admin-accounts/user-view.tsx'),
    styles: ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    access: 'UsersRead',
  },
  {
    pattern: 'admin/settings',
    load: () => import('../admin-accounts/settings-view.tsx'),
    styles: ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    access: 'SystemAdmin',
  },
  {
    pattern: 'register',
    load: () => import('../account/register-view.tsx'),
    frame: 'plain',
    access: 'public',
  },
  {
    pattern: 'setup',
    load: () => import('../setup/setup-view.tsx'),
    styles: ['manage/manage.css', 'setup/setup.css'],
    frame: 'plain',
    access: 'public',
  },
  {
    pattern: 'sign-in',
    load: () => import('../account/sign-in-view.tsx'),
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
