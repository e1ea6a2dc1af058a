// Image of a page, or its loading or error state.
import { useLayoutEffect, useRef } from 'preact/hooks'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import type { PageInfo, Size, Spread } from './page-layout.ts'
import { halfOf } from './page-picture.ts'
import type { Reader } from './reader.ts'
import { TextLayer } from './text-layer.tsx'

type PageFigureProps = {
  reader: Reader
  page: PageInfo
  size: Size
  half?: Spread['half']
  /** Offset from the top of a strip. */
  top?: number
}

export function PageFigure({ reader, page, size, half = null, top }: PageFigureProps) {
  const frame = useRef<HTMLDivElement>(null)
  const { element, error, isWaiting } = reader.images.image(page).value
  const name = t('lists.pageOf', { page: page.number, count: reader.count })
  const rotation = reader.rotation.value
  // Shows the decoded image itself, which avoids another request and decoding.
  useLayoutEffect(() => {
    if (element) frame.current!.replaceChildren(half ? halfOf(element, half) : element)
  }, [element, half])
  const style = {
    width: `${size.width}px`,
    height: `${size.height}px`,
    ...(top !== undefined && { insetBlockStart: `${top}px` }),
  }
  return (
    <div class="reader-page" style={style} data-page={page.number}>
      <div
        class="reader-image"
        ref={frame}
        style={placeInFrame(size, rotation)}
        {...(element && { role: 'img', 'aria-label': name })}
      />
      {element && !half && reader.hasText && (
        <TextLayer
          reader={reader}
          number={page.number}
          size={imageSize(size, rotation)}
          style={placeInFrame(size, rotation)}
        />
      )}
      {!element && !error && (
        <div class="reader-page-state" role="img" aria-label={name}>
          <span class="reader-page-number">{page.number}</span>
          {isWaiting && <span>{t('reader.pageWaiting')}</span>}
        </div>
      )}
      {error && (
        <div class="reader-page-state" role="group" aria-label={name}>
          <Icon name="error" size={28} />
          <p>
            <strong>{t('reader.pageFailed', { page: page.number })}</strong>
          </p>
          <p class="reader-error-text">{messageOf(error)}</p>
          <Button icon="refresh" onClick={() => reader.images.retry(page.number)}>
            {t('action.retry')}
          </Button>
        </div>
      )}
    </div>
  )
}

/** Before the rotation. */
const imageSize = ({ width, height }: Size, rotation: number): Size =>
  rotation % 2 === 0 ? { width, height } : { width: height, height: width }

/** Rotated around its center. */
function placeInFrame(size: Size, rotation: number) {
  const { width, height } = imageSize(size, rotation)
  return {
    width: `${width}px`,
    height: `${height}px`,
    left: `${(size.width - width) / 2}px`,
    top: `${(size.height - height) / 2}px`,
    ...(rotation !== 0 && { rotate: `${rotation * 90}deg` }),
  }
}
