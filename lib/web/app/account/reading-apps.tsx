// Addresses of this server for reading apps, each with a QR code.
import createCode from 'qrcode-generator'
import { account, can } from '../api/session.ts'
import { useGetAll } from '../api/use-get.ts'
import { type TextKey, t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { showNotice } from '../ui/toast.tsx'

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
