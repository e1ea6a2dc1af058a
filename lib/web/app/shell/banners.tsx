// Banners above the application: the connection is lost or back, another account is previewed.
import { useEffect, useState } from 'preact/hooks'
import { connection, useEvents } from '../api/events.ts'
import { preview } from '../api/preview.ts'
import { endPreview } from '../api/session.ts'
import { navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'

const backMs = 3_000
// Server restarts and brief losses of wireless connections are not worth a message.
const lostAfterMs = 1_500

const ignore = () => {}

export function ConnectionBanner() {
  const [state, setState] = useState<'none' | 'lost' | 'back'>('none')
  const isLost = connection.value === 'lost'
  // The stream notices a lost connection on every page.
  useEvents('events', ignore)
  useEffect(() => {
    if (!isLost && state === 'none') return
    if (!isLost) setState('back')
    const timer = setTimeout(
      () => setState(isLost ? 'lost' : 'none'),
      isLost ? lostAfterMs : backMs,
    )
    return () => clearTimeout(timer)
  }, [isLost])
  if (state === 'none') return null
  return (
    <div class={`connection-banner ${state}`} role="status">
      {t(state === 'lost' ? 'connection.lost' : 'connection.back')}
    </div>
  )
}

/** The previewed account, and a button to end the preview. */
export function PreviewBanner() {
  if (preview.value === null) return null
  const { accountId, username } = preview.value
  const end = async () => {
    await endPreview()
    navigate(`admin/users/${accountId}`)
  }
  return (
    <div class="preview-banner" role="status">
      <span>{t('preview.as', { name: username })}</span>
      <Button text={t('preview.end')} onClick={end} />
    </div>
  )
}
