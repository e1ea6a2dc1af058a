// Cover of a book, series, collection or read list, with its state while it loads and without an image.

import { useEffect, useRef, useState } from 'preact/hooks'
import { mediaUrl } from '../api/address.ts'
import { accessToken, account } from '../api/session.ts'
import { useCoverVersion } from './cover-versions.ts'
import { h } from './h.ts'

export type CoverOwner = 'books' | 'series' | 'libraries' | 'collections' | 'readlists'

type CoverProps = {
  owner: CoverOwner
  id: string
  /** Empty where the title stands beside the cover. */
  alt?: string
  /** Changes when the cover does, where there is no event for it. */
  version?: string | number
  /** At once instead of when it comes into view. */
  isEager?: boolean
}

/** Fills its parent element, which has the aspect ratio. Shows the new cover after a `cover_updated` event. */
export function Cover({ owner, id, alt = '', version, isEager = false }: CoverProps) {
  const [attempt, setAttempt] = useState(0)
  const [isFailed, setFailed] = useState(false)
  const updated = useCoverVersion(id)
  // Made of what the account sees. Browsers show an image again for another account in the same tab.
  const forAccount = owner === 'books' ? undefined : account.value?.id
  const source = mediaUrl(`/${owner}/${id}/thumbnail`, { v: version ?? updated, for: forAccount })
  const image = useRef<HTMLImageElement>(null)
  useEffect(() => setFailed(false), [source])
  useEffect(() => {
    const element = image.current
    // A removed image would be loaded to its end, before those that came into view.
    return () => {
      if (element && !element.complete) element.removeAttribute('src')
    }
  }, [source, attempt, isFailed])
  // After a pause of the tab the cookie may have expired, which loading the image does not renew.
  const retry = async () => {
    if (!image.current?.hasAttribute('src')) return
    if (attempt > 0) return setFailed(true)
    await accessToken().catch(() => null)
    setAttempt(1)
  }
  if (isFailed)
    return h('div', {
      class: 'cover-missing',
      role: alt ? 'img' : undefined,
      'aria-label': alt || undefined,
    })
  return h('img', {
    class: 'cover',
    ref: image,
    key: `${source}:${attempt}`,
    src: source,
    alt,
    loading: isEager ? 'eager' : 'lazy',
    decoding: 'async',
    onError: () => void retry(),
  })
}
