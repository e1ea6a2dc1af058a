// Image of a page in its place, while it loads, and when it cannot be shown.
import { useLayoutEffect, useRef } from 'preact/hooks'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import type { PageInfo, Size } from './page-layout.ts'
import type { Reader } from './reader.ts'

type PageFigureProps = { reader: Reader; page: PageInfo; size: Size; top?: number }

/** `top`: distance from the top of a strip. */
export function PageFigure({ reader, page, size, top }: PageFigureProps) {
  const frame = useRef<HTMLDivElement>(null)
  const { element, error, isWaiting } = reader.images.image(page).value
  const name = t('reader.pageOf', { page: page.number, count: reader.count })
  // The decoded image itself is shown, so that it is neither requested nor decoded again.
  useLayoutEffect(() => {
    if (!element) return
    element.alt = name
    if (frame.current!.firstChild !== element) frame.current!.replaceChildren(element)
  }, [element, name])
  const style = {
    width: `${size.width}px`,
    height: `${size.height}px`,
    ...(top !== undefined && { insetBlockStart: `${top}px` }),
  }
  return h(
    'div',
    { class: 'reader-page', style, 'data-page': page.number },
    h('div', { class: 'reader-image', ref: frame }),
    !element &&
      !error &&
      h(
        'div',
        { class: 'reader-page-state', role: 'img', 'aria-label': name },
        h('span', { class: 'reader-page-number' }, page.number),
        isWaiting && h('span', { class: 'reader-waiting' }, t('reader.pageWaiting')),
      ),
    error &&
      h(
        'div',
        { class: 'reader-page-state', role: 'group', 'aria-label': name },
        h(Icon, { name: 'error', size: 28 }),
        h('p', null, h('strong', null, t('reader.pageFailed', { page: page.number }))),
        h('p', { class: 'reader-error-text' }, messageOf(error)),
        h(
          Button,
          { icon: 'refresh', onClick: () => reader.images.retry(page.number) },
          t('action.retry'),
        ),
      ),
  )
}
