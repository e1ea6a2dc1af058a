// Choice of a folder of the server: by path, or by way of its folders.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.ts'
import { Switch, TextField } from '../ui/field.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'

type Listing = Schemas['DirectoryListing']
type Entry = Schemas['FileSystemEntry']

const typingMs = 350

type FolderBrowserProps = {
  /** The chosen folder: an absolute path of the server. */
  path: string
  onChange: (path: string) => void
}

export function FolderBrowser({ path, onChange }: FolderBrowserProps) {
  // Listing folders needs more than libraries do; the path can still be typed.
  if (!can('SystemAdmin'))
    return h(TextField, {
      label: t('folder.path'),
      hint: t('folder.typedOnly'),
      value: path,
      required: true,
      dir: 'ltr',
      onInput: onChange,
    })
  return h(Browser, { path, onChange })
}

function Browser({ path, onChange }: FolderBrowserProps) {
  const [includeHidden, setIncludeHidden] = useState(false)
  const opened = useDebounced(path)
  const { data, error, isLoading } = useResource(
    `folder:${includeHidden}:${opened}`,
    async signal =>
      await body(
        api.GET('/api/v1/filesystem/browse', {
          params: { query: { ...(opened && { path: opened }), includeHidden } },
          signal,
        }),
      ),
  )
  // The last folder stays until the next one is there.
  const [listing, setListing] = useState<Listing | null>(null)
  useEffect(() => {
    if (data) setListing(data)
  }, [data])
  return h(
    'div',
    { class: 'folder-browser' },
    h(TextField, {
      label: t('folder.path'),
      value: path,
      // The server begins with its home folder; nothing is chosen yet.
      placeholder: listing?.currentPath,
      required: true,
      dir: 'ltr',
      autocomplete: 'off',
      spellcheck: false,
      ...(error && { error: errorText(error) }),
      onInput: onChange,
    }),
    h(Drives, { onOpen: onChange }),
    listing === null && !error && h('div', { class: 'folder-listing blank' }),
    listing &&
      h(FolderList, { listing, onOpen: onChange, isStale: isLoading || error !== undefined }),
    h(Switch, {
      label: t('folder.hidden'),
      checked: includeHidden,
      onChange: setIncludeHidden,
    }),
  )
}

const errorText = (error: Error) =>
  error instanceof ApiError && error.status === 403 ? t('folder.forbidden') : messageOf(error)

/** The value once it has not changed for a moment. */
export function useDebounced(value: string): string {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value.trim()), typingMs)
    return () => clearTimeout(timer)
  }, [value])
  return debounced
}

function Drives({ onOpen }: { onOpen: (path: string) => void }) {
  const { data } = useResource('drives', signal =>
    body(api.GET('/api/v1/filesystem/drives', { signal })),
  )
  const drives = data?.data
  if (drives && drives.length === 0) return null
  return h(
    'div',
    { class: 'folder-drives', role: 'group', 'aria-label': t('folder.places') },
    drives?.map(({ path, isReadable }) =>
      h(
        'button',
        {
          type: 'button',
          class: 'folder-drive',
          dir: 'ltr',
          key: path,
          disabled: !isReadable,
          onClick: () => onOpen(path),
        },
        path,
      ),
    ),
  )
}

type FolderListProps = { listing: Listing; onOpen: (path: string) => void; isStale: boolean }

function FolderList({ listing, onOpen, isStale }: FolderListProps) {
  const { currentPath, parentPath, entries, isTruncated } = listing
  const list = useRef<HTMLUListElement>(null)
  const box = useRef<HTMLDivElement>(null)
  // The button of the folder that was opened is no more: the focus goes to the first of its folders.
  const isOpening = useRef(false)
  const open = (path: string) => {
    isOpening.current = true
    onOpen(path)
  }
  useEffect(() => {
    if (list.current) list.current.scrollTop = 0
    if (!isOpening.current) return
    isOpening.current = false
    const first =
      list.current?.querySelector<HTMLElement>('button:enabled') ??
      box.current?.querySelector<HTMLElement>('button:enabled')
    first?.focus({ preventScroll: true })
  }, [currentPath])
  const folders = entries.filter(entry => entry.isDirectory)
  const files = entries.length - folders.length
  return h(
    'div',
    { class: `folder-listing${isStale ? ' stale' : ''}`, ref: box },
    h(
      'div',
      { class: 'folder-bar' },
      h(IconButton, {
        icon: 'arrowUp',
        variant: 'quiet',
        label: t('folder.up'),
        disabled: parentPath === null,
        onClick: () => parentPath !== null && open(parentPath),
      }),
      h(Breadcrumbs, { path: currentPath, onOpen: open }),
    ),
    h(
      'ul',
      { class: 'folder-list', ref: list, 'aria-label': t('folder.folders') },
      folders.map(folder => h(Folder, { folder, onOpen: open, key: folder.path })),
    ),
    h(
      'p',
      { class: 'folder-summary', role: 'status' },
      [
        folders.length === 0 ? t('folder.none') : t('folder.count', { count: folders.length }),
        files > 0 && t('folder.files', { count: files }),
        isTruncated && t('folder.more'),
      ]
        .filter(Boolean)
        .join(' · '),
    ),
  )
}

function Folder({ folder, onOpen }: { folder: Entry; onOpen: (path: string) => void }) {
  return h(
    'li',
    null,
    h(
      'button',
      {
        type: 'button',
        class: 'folder-entry',
        disabled: !folder.isReadable,
        onClick: () => onOpen(folder.path),
      },
      h(Icon, { name: folder.isReadable ? 'folder' : 'lock' }),
      h('bdi', null, folder.name),
      !folder.isReadable && h('span', { class: 'secondary-text' }, t('folder.unreadable')),
    ),
  )
}

/** The folders of a path, from the root. Paths of Windows begin with a drive. */
function Breadcrumbs({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  const separator = path.includes('\\') ? '\\' : '/'
  const names = path.split(separator).filter(Boolean)
  const root = path.startsWith('/') ? '/' : ''
  const crumbs = names.map((name, i) => ({
    name,
    path: root + names.slice(0, i + 1).join(separator) + (i === 0 && !root ? separator : ''),
  }))
  const all = root ? [{ name: '/', path: '/' }, ...crumbs] : crumbs
  return h(
    'ol',
    { class: 'folder-breadcrumbs', dir: 'ltr', 'aria-label': t('folder.current') },
    all.map((crumb, i) =>
      h(
        'li',
        { key: crumb.path },
        h(
          'button',
          {
            type: 'button',
            class: 'folder-crumb',
            'aria-current': i === all.length - 1 ? 'location' : undefined,
            onClick: () => onOpen(crumb.path),
          },
          crumb.name,
        ),
      ),
    ),
  )
}
