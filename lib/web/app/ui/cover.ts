// Cover of a book, series, collection or read list, with its state while it loads and without an image.

import { useState } from 'preact/hooks'
import { mediaUrl } from '../api/address.ts'
import { accessToken } from '../api/session.ts'
import { h } from './h.ts'

export type CoverOwner = 'books' | 'series' | 'libraries' | 'collections' | 'readlists'

type CoverProps = {
  owner: CoverOwner
  id: string
  /** Empty where the title stands beside the cover. */
  alt?: string
  /** Changes when the cover does, so that the browser requests it again. */
  version?: string | number
}

/** Fills its parent element, which has the aspect ratio. */
export function Cover({ owner, id, alt = '', version }: CoverProps) {
  const [attempt, setAttempt] = useState(0)
  const [isFailed, setFailed] = useState(false)
  const source = mediaUrl(`/${owner}/${id}/thumbnail`, { v: version })
  // After a pause of the tab the cookie may have expired, which loading the image does not renew.
  const retry = async () => {
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
    key: `${source}:${attempt}`,
    src: source,
    alt,
    loading: 'lazy',
    decoding: 'async',
    onError: () => void retry(),
  })
}
