// API keys of the account, for reading apps and scripts; addresses of this server for reading apps.
import { useState } from 'preact/hooks'
import createCode from 'qrcode-generator'
import { api, body, type Schemas } from '../api/client.ts'
import { useGet, useGetAll } from '../api/resource.ts'
import { account, can } from '../api/session.ts'
import { useEdited } from '../routing/unsaved.ts'
import { formatDate, formatRelative, type TextKey, t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx'
import { optionsOf, Select, TextField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { currentPage, Pagination } from '../ui/pagination.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { AccountFrame } from './account-frame.tsx'

export function View() {
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<Schemas['ApiKey'] | null>(null)
  const keys = useGet('/api/v1/api-keys', { query: { page: currentPage(), pageSize: 50 } })
  const create = (
    <Button icon="add" variant="primary" onClick={() => setCreating(true)}>
      {t('keys.create')}
    </Button>
  )
  return (
    <AccountFrame title={t('keys.title')} actions={can('ApiKeysWrite') && create}>
      {keys.error && !keys.data && <ErrorState error={keys.error} onRetry={keys.reload} />}
      <div class="key-list">
        {keys.data?.data.length === 0 && (
          <EmptyState icon="key" title={t('keys.none')} text={t('keys.noneText')} />
        )}
        {keys.data?.data.map(key => (
          <KeyCard key={key.id} apiKey={key} onDelete={() => setDeleted(key)} />
        ))}
        <Pagination totalPages={keys.data?.totalPages} />
        {!keys.isLoading && <ReadingApps />}
      </div>
      {isCreating && <KeyDialog onClose={() => setCreating(false)} onCreated={keys.reload} />}
      {deleted && (
        <ConfirmDialog
          title={t('keys.delete')}
          text={t('keys.deleteText', { name: deleted.name })}
          action={t('action.delete')}
          onClose={() => setDeleted(null)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/api-keys/{id}', { params: { path: { id: deleted.id } } })
            keys.reload()
          }}
        />
      )}
    </AccountFrame>
  )
}

function KeyCard({ apiKey, onDelete }: { apiKey: Schemas['ApiKey']; onDelete: () => void }) {
  const { name, keyPrefix, lastUsedAt, expiresAt, isActive } = apiKey
  const isExpired = expiresAt !== null && new Date(expiresAt) < new Date()
  return (
    <article class="row card key-card">
      <div>
        <h2>{name}</h2>
        <p class="secondary-text">
          <code>{keyPrefix}…</code>
          {' · '}
          {lastUsedAt ? t('keys.used', { time: formatRelative(lastUsedAt) }) : t('keys.unused')}
          {expiresAt && ` · ${t('keys.expires', { date: formatDate(expiresAt) })}`}
        </p>
      </div>
      {(!isActive || isExpired) && (
        <span class="badge danger">{t(isExpired ? 'keys.expired' : 'users.inactive')}</span>
      )}
      {can('ApiKeysDelete') && (
        <IconButton icon="delete" label={t('keys.deleteNamed', { name })} onClick={onDelete} />
      )}
    </article>
  )
}

type Permission = Schemas['Permission']
type Purpose = 'reading' | 'readOnly' | 'all'
type Lifetime = 'unlimited' | '30' | '365'

const readPermissions: readonly Permission[] = [
  'LibrariesRead',
  'SeriesRead',
  'BooksRead',
  'PagesRead',
  'ProgressRead',
  'CollectionsRead',
  'ReadListsRead',
]
const permissionsOf: Record<Purpose, readonly Permission[] | null> = {
  reading: [...readPermissions, 'ProgressWrite'],
  readOnly: readPermissions,
  all: null,
}

type KeyDialogProps = { onClose: () => void; onCreated: () => void }

/** Creates an API key and shows it once. */
function KeyDialog({ onClose, onCreated }: KeyDialogProps) {
  const name = useInput()
  const [purpose, setPurpose] = useState<Purpose>('reading')
  const [lifetime, setLifetime] = useState<Lifetime>('unlimited')
  const [created, setCreated] = useState<string | null>(null)
  const create = async () => {
    const permissions = permissionsOf[purpose]?.filter(permission => can(permission)) ?? null
    const expiresAt =
      lifetime === 'unlimited'
        ? null
        : new Date(Date.now() + Number(lifetime) * 86_400_000).toISOString()
    const request = { name: name.value, permissions, expiresAt }
    const key = await body(api.POST('/api/v1/api-keys', { body: request }))
    setCreated(key.key)
    onCreated()
  }
  const { isEdited } = useEdited([name.value, purpose, lifetime])
  if (created !== null)
    return (
      <Dialog title={t('keys.created')} onClose={onClose}>
        <p>{t('keys.createdText')}</p>
        <div class="key-secret">
          <CopyableText text={created} />
        </div>
        <Button variant="primary" text={t('action.done')} onClick={onClose} />
      </Dialog>
    )
  return (
    <Dialog title={t('keys.create')} onClose={onClose} isUnsaved={isEdited}>
      <Form onSubmit={create} submit={t('keys.create')}>
        <TextField
          label={t('field.name')}
          hint={t('keys.nameHint')}
          required
          maxLength={100}
          autofocus
          {...name}
        />
        <Select<Purpose>
          label={t('keys.purpose')}
          value={purpose}
          options={optionsOf(['reading', 'readOnly', 'all'] as const, value =>
            t(`keys.purpose.${value}`),
          )}
          onChange={setPurpose}
        />
        <Select<Lifetime>
          label={t('keys.lifetime')}
          value={lifetime}
          options={[
            { value: 'unlimited', text: t('keys.unlimited') },
            { value: '30', text: t('count.days', { count: 30 }) },
            { value: '365', text: t('count.days', { count: 365 }) },
          ]}
          onChange={setLifetime}
        />
      </Form>
    </Dialog>
  )
}

type App = { name: TextKey; hint: TextKey; path: string }

const apps: readonly App[] = [
  { name: 'apps.opds1', hint: 'apps.opds1Hint', path: 'opds/v1/catalog' },
  { name: 'apps.opds2', hint: 'apps.opds2Hint', path: 'opds/v2' },
  { name: 'apps.koreader', hint: 'apps.koreaderHint', path: 'koreader' },
]

/** How apps sign in, and the addresses to enter in them. */
function ReadingApps() {
  const komga = useKomgaPrefix()
  const shown = komga
    ? [...apps, { name: 'apps.komga', hint: 'apps.komgaHint', path: komga } as const]
    : apps
  return (
    <section class="card">
      <h2>{t('apps.title')}</h2>
      <p class="secondary-text">{t('apps.signIn', { name: account.value?.username ?? '' })}</p>
      {isLoopback() && <p class="secondary-text">{t('apps.onlyHere')}</p>}
      <ul class="app-list">
        {shown.map(app => (
          <AppEntry key={app.path} {...app} />
        ))}
      </ul>
    </section>
  )
}

/** Whether this page is under an address that other devices do not reach. */
const isLoopback = () => /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname)

function AppEntry({ name, hint, path }: App) {
  const url = new URL(path, document.baseURI).href
  return (
    <li class="app-entry">
      <h3>{t(name)}</h3>
      <CopyableText text={url} />
      <p class="field-hint">{t(hint)}</p>
      <QrCode text={url} label={t('apps.qrCode', { name: t(name) })} />
    </li>
  )
}

/** A text with a button that copies it, where the browser allows that (HTTPS). */
function CopyableText({ text }: { text: string }) {
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    showNotice(t('action.copied'))
  }
  return (
    <div class="app-address">
      <code>{text}</code>
      {window.isSecureContext && (
        <IconButton icon="copy" isFramed label={t('action.copy')} onClick={copy} />
      )}
    </div>
  )
}

/** The path of the Komga-compatible API, which only administrators can look up; null while it is disabled. */
function useKomgaPrefix(): string | null {
  const isAdmin = can('SystemAdmin')
  const settings = useGetAll(isAdmin ? '/api/v1/admin/settings' : null)
  const value = (key: string) => settings.data?.find(setting => setting.key === key)?.value
  return value('komga.enabled') === 'true' ? (value('komga.prefix') ?? null) : null
}

/** Modules of white around the code (ISO/IEC 18004 §9.1). */
const quietZone = 4

/** As SVG. */
function QrCode({ text, label }: { text: string; label: string }) {
  const code = createCode(0, 'M')
  code.addData(text)
  code.make()
  const count = code.getModuleCount()
  let path = ''
  for (let row = 0; row < count; row++)
    for (let column = 0; column < count; column++)
      if (code.isDark(row, column)) path += `M${column + quietZone} ${row + quietZone}h1v1h-1z`
  const size = count + 2 * quietZone
  return (
    <svg
      class="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  )
}
