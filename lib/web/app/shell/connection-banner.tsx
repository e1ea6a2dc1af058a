// Banner while the connection to the server is lost, and briefly after it is back.

import { useEffect, useState } from 'preact/hooks'
import { connection } from '../api/events.ts'
import { useEvents } from '../api/use-events.ts'
import { t } from '../text/translate.ts'

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
