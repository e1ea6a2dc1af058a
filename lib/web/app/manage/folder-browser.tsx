// Folder picker for the server: by path or by browsing.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useGet } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { Switch, TextField } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { useDebounced } from '../ui/timing.ts'

type Listing = Schemas['DirectoryListing']
type Entry = Schemas['FileSystemEntry']

export const typingMs = 350

type FolderBrowserProps = {
  /** The chosen folder: an absolute path on the server. */
  path: string
  onChange: (path: string) => void
}

export function FolderBrowser({ path, onChange }: FolderBrowserProps) {
  // Listing folders needs more permissions than adding a library; the path can still be typed.
  if (!can('SystemAdmin'))
    return (
      <TextField
        label={t('folder.path')}
        hint={t('folder.typedOnly')}
        value={path}
        required
        dir="ltr"
        onInput={onChange}
      />
    )
  return <Browser path={path} onChange={onChange} />
}

function Browser({ path, onChange }: FolderBrowserProps) {
  const [includeHidden, setIncludeHidden] = useState(false)
  const opened = useDebounced(path.trim(), typingMs)
  const query = { ...(opened && { path: opened }), includeHidden }
  const { data, error, isLoading } = useGet('/api/v1/filesystem/browse', { query })
  // The last folder stays until the next one is loaded.
  const [listing, setListing] = useState<Listing | null>(null)
  useEffect(() => {
    if (data) setListing(data)
  }, [data])
  return (
    <div class="stack">
      <TextField
        label={t('folder.path')}
        value={path}
        // The server starts in its home folder; nothing is chosen yet.
        placeholder={listing?.currentPath}
        required
        dir="ltr"
        autocomplete="off"
        spellcheck={false}
        {...(error && { error: errorText(error) })}
        onInput={onChange}
      />
      <Drives onOpen={onChange} />
      {listing === null && !error && <div class="card folder-listing blank" />}
      {listing && (
        <FolderList
          listing={listing}
          onOpen={onChange}
          isStale={isLoading || error !== undefined}
        />
      )}
      <Switch label={t('folder.hidden')} checked={includeHidden} onChange={setIncludeHidden} />
    </div>
  )
}

const errorText = (error: Error) =>
  error instanceof ApiError && error.status === 403 ? t('folder.forbidden') : messageOf(error)

function Drives({ onOpen }: { onOpen: (path: string) => void }) {
  const drives = useGet('/api/v1/filesystem/drives').data?.data
  if (drives && drives.length === 0) return null
  return (
    <div class="folder-drives" role="group" aria-label={t('folder.places')}>
      {drives?.map(({ path, isReadable }) => (
        <button
          key={path}
          type="button"
          class="folder-drive"
          dir="ltr"
          disabled={!isReadable}
          onClick={() => onOpen(path)}
        >
          {path}
        </button>
      ))}
    </div>
  )
}

type FolderListProps = { listing: Listing; onOpen: (path: string) => void; isStale: boolean }

function FolderList({ listing, onOpen, isStale }: FolderListProps) {
  const { currentPath, parentPath, entries, isTruncated } = listing
  const list = useRef<HTMLUListElement>(null)
  const box = useRef<HTMLDivElement>(null)
  // The button of the opened folder is gone: focus moves to its first subfolder.
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
  return (
    <div class={`card folder-listing${isStale ? ' stale' : ''}`} ref={box}>
      <div class="folder-bar">
        <IconButton
          icon="arrowUp"
          label={t('folder.up')}
          disabled={parentPath === null}
          onClick={() => parentPath !== null && open(parentPath)}
        />
        <Breadcrumbs path={currentPath} onOpen={open} />
      </div>
      <ul class="folder-list" ref={list} aria-label={t('folder.folders')}>
        {folders.map(folder => (
          <Folder key={folder.path} folder={folder} onOpen={open} />
        ))}
      </ul>
      <p class="folder-summary" role="status">
        {[
          folders.length === 0 ? t('folder.none') : t('folder.count', { count: folders.length }),
          files > 0 && t('count.files', { count: files }),
          isTruncated && t('folder.more'),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </div>
  )
}

function Folder({ folder, onOpen }: { folder: Entry; onOpen: (path: string) => void }) {
  return (
    <li>
      <button
        type="button"
        class="folder-entry"
        disabled={!folder.isReadable}
        onClick={() => onOpen(folder.path)}
      >
        <Icon name={folder.isReadable ? 'folder' : 'lock'} />
        <bdi>{folder.name}</bdi>
        {!folder.isReadable && <span class="secondary-text">{t('folder.unreadable')}</span>}
      </button>
    </li>
  )
}

/** The folders of a path, from the root. Windows paths begin with a drive. */
function Breadcrumbs({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  const separator = path.includes('\\') ? '\\' : '/'
  const names = path.split(separator).filter(Boolean)
  const root = path.startsWith('/') ? '/' : ''
  const crumbs = names.map((name, i) => ({
    name,
    path: root + names.slice(0, i + 1).join(separator) + (i === 0 && !root ? separator : ''),
  }))
  const all = root ? [{ name: '/', path: '/' }, ...crumbs] : crumbs
  return (
    <ol class="folder-breadcrumbs" dir="ltr" aria-label={t('folder.current')}>
      {all.map((crumb, i) => (
        <li key={crumb.path}>
          <button
            type="button"
            class="folder-crumb"
            aria-current={i === all.length - 1 ? 'location' : undefined}
            onClick={() => onOpen(crumb.path)}
          >
            {crumb.name}
          </button>
        </li>
      ))}
    </ol>
  )
}
