// Strip of page thumbnails: only visible ones are rendered and requested, a few at a time.
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { mediaUrl } from '../api/address.ts'
import { t } from '../text/translate.ts'
import type { Reader } from './reader.ts'

const itemWidth = 84
const overscan = 2
const maxLoading = 4
const thumbnailWidth = 160

export function Thumbnails({ reader }: { reader: Reader }) {
  const list = useRef<HTMLDivElement>(null)
  const left = useSignal(0)
  const queue = useState(createQueue)[0]
  const { count, page, settings, viewport } = reader
  const isRtl = settings.value.direction === 'rtl'
  const first = Math.max(0, Math.floor(left.value / itemWidth) - overscan)
  const visible = Math.ceil(viewport.value.width / itemWidth) + 2 * overscan
  const last = Math.min(count, first + visible)
  useLayoutEffect(() => {
    const element = list.current!
    const target = (page.value - 0.5) * itemWidth - element.clientWidth / 2
    element.scrollLeft = Math.max(0, target) * (isRtl ? -1 : 1)
    left.value = Math.abs(element.scrollLeft)
  }, [page.value, isRtl])
  const numbers = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i + 1)
  return (
    <div
      class="reader-thumbnails"
      ref={list}
      dir={isRtl ? 'rtl' : 'ltr'}
      tabIndex={-1}
      onScroll={() => {
        left.value = Math.abs(list.current!.scrollLeft)
      }}
    >
      <div class="reader-thumbnail-track" style={{ width: `${count * itemWidth}px` }}>
        {numbers.map(number => (
          <button
            key={number}
            type="button"
            class="reader-thumbnail"
            style={{ insetInlineStart: `${(number - 1) * itemWidth}px` }}
            aria-label={t('reader.goToPage', { page: number })}
            aria-current={number === page.value ? 'page' : undefined}
            onClick={() => reader.go(number)}
          >
            <Thumbnail
              source={mediaUrl(`/books/${reader.book.id}/pages/${number}`, {
                width: thumbnailWidth,
                format: 'webp',
              })}
              queue={queue}
            />
            <span>{number}</span>
          </button>
        ))}
      </div>
    </div>
  )
}

/** Cancels requests of thumbnails that left the view. */
function Thumbnail({ source, queue }: { source: string; queue: Queue }) {
  const image = useRef<HTMLImageElement>(null)
  useEffect(() => {
    const element = image.current!
    const cancel = queue(done => {
      element.onload = element.onerror = done
      element.src = source
    })
    return () => {
      element.removeAttribute('src')
      cancel()
    }
  }, [source])
  return <img ref={image} alt="" />
}

type Queue = ReturnType<typeof createQueue>

/** Runs a few tasks at a time, latest first; returns a function that cancels the task. */
function createQueue() {
  const waiting: { run: () => void }[] = []
  let running = 0
  const next = () => {
    while (running < maxLoading) {
      const task = waiting.pop()
      if (!task) return
      running += 1
      task.run()
    }
  }
  return (start: (done: () => void) => void) => {
    let isDone = false
    let isStarted = false
    const done = () => {
      if (isDone) return
      isDone = true
      if (isStarted) running -= 1
      next()
    }
    const task = {
      run: () => {
        isStarted = true
        start(done)
      },
    }
    waiting.push(task)
    queueMicrotask(next)
    return () => {
      const index = waiting.indexOf(task)
      if (index >= 0) waiting.splice(index, 1)
      done()
    }
  }
}
