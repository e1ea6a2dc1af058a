// Addresses of this server for reading apps, each with a QR code.
import { allItems } from '../api/all-items.ts'
import { api } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { account, can } from '../api/session.ts'
import { type TextKey, t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { showNotice } from '../ui/toast.tsx'
import { QrCode } from './qr-code.tsx'

type App = { name: TextKey; hint: TextKey; path: string }

const apps: readonly App[] = [
  { name: 'apps.opds1', hint: 'apps.opds1Hint', path: 'opds/v1/catalog' },
  { name: 'apps.opds2', hint: 'apps.opds2Hint', path: 'opds/v2' },
  { name: 'apps.koreader', hint: 'apps.koreaderHint', path: 'koreader' },
]

/** How apps sign in, and the addresses to enter in them. */
export function ReadingApps() {
  const komga = useKomgaPrefix()
  const shown = komga
    ? [...apps, { name: 'apps.komga', hint: 'apps.komgaHint', path: komga } as const]
    : apps
  return (
    <section class="card">
      <h2>{t('apps.title')}</h2>
      <p class="secondary-text">{t('apps.signIn', { name: account.value?.username ?? '' })}</p>
      <ul class="app-list">
        {shown.map(app => (
          <AppEntry key={app.path} {...app} />
        ))}
      </ul>
    </section>
  )
}

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
export function CopyableText({ text }: { text: string }) {
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    showNotice(t('action.copied'))
  }
  return (
    <div class="app-address">
      <code>{text}</code>
      {window.isSecureContext && <IconButton icon="copy" label={t('action.copy')} onClick={copy} />}
    </div>
  )
}

/** The path of the Komga-compatible API, which only administrators can look up; null while it is disabled. */
function useKomgaPrefix(): string | null {
  const isAdmin = can('SystemAdmin')
  const settings = useResource(isAdmin ? 'settings' : null, signal =>
    allItems(query => api.GET('/api/v1/admin/settings', { params: { query }, signal })),
  )
  const value = (key: string) => settings.data?.find(setting => setting.key === key)?.value
  return value('komga.enabled') === 'true' ? (value('komga.prefix') ?? null) : null
}
