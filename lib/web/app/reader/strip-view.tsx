// Strip view: a strip of known height, rendered only around the window.
import { useComputed, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { createTaps } from './gestures.ts'
import { PageFigure } from './page-figure.tsx'
import { medianRatio, pageAt, stripOf } from './page-layout.ts'
import type { Reader } from './reader.ts'
import { useStripScrolling } from './strip-scrolling.ts'
import { scrollPart } from './turning.ts'

// Comfortable reading width on a wide screen.
const columnWidth = 860
const minWidth = 120
const gapWidth = 12
/** Window heights rendered before and after it. */
const overscan = { before: 1, after: 1.5 }
const preloadedAhead = 2
const tapShare = 0.8

type StripViewProps = { reader: Reader; endCard: ComponentChildren }

export function StripView({ reader, endCard }: StripViewProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const scrollTop = useSignal(0)
  const { width, strip } = useStrip(reader)
  const { viewport, pages } = reader
  const tap = useMemo(
    () =>
      createTaps(reader, zone =>
        scrollPart(scroller.current!, zone === 'top' ? -tapShare : tapShare),
      ),
    [reader],
  )
  const { height } = viewport.value
  const first = pageAt(strip, scrollTop.value - overscan.before * height)
  const last = pageAt(strip, scrollTop.value + (1 + overscan.after) * height)
  useStripScrolling({ reader, scroller, strip, scrollTop })
  useEffect(() => {
    const visible = pageAt(strip, scroller.current!.scrollTop)
    const isSideways = reader.rotation.value % 2 !== 0
    const wanted = reader.originals.value
      .slice(first, last + 1 + preloadedAhead)
      .map((page, i) => ({
        page,
        width: isSideways ? strip.heights[first + i]! : width,
        isNear: first + i <= last,
      }))
    // Pages before the window come last.
    const behind = wanted.splice(0, Math.max(0, visible - first))
    reader.images.want([...wanted, ...behind.reverse()])
  }, [first, last, width, pages.value])
  return (
    <div
      class="reader-strip"
      ref={scroller}
      dir="ltr"
      tabIndex={0}
      role="group"
      onClick={(event: MouseEvent) => tap(event)}
    >
      <div class="reader-column" style={{ width: `${width}px`, height: `${strip.tops.at(-1)}px` }}>
        {reader.originals.value.slice(first, last + 1).map((page, i) => (
          <PageFigure
            key={page.number}
            reader={reader}
            page={page}
            size={{ width, height: strip.heights[first + i]! }}
            top={strip.tops[first + i]!}
          />
        ))}
      </div>
      <div class="reader-strip-end">{endCard}</div>
    </div>
  )
}

function useStrip(reader: Reader) {
  return useComputed(() => {
    const { viewport, settings, pages, zoom } = reader
    const { width: available, height } = viewport.value
    const { fit, hasGaps } = settings.value
    const natural = Math.max(...pages.value.map(page => page.width ?? 0)) || available
    const widths = {
      screen: Math.min(available, columnWidth),
      width: available,
      height: height * medianRatio(pages.value),
      original: natural,
    }
    const width = Math.max(minWidth, Math.floor(widths[fit] * zoom.value))
    return { width, strip: stripOf(pages.value, width, hasGaps ? gapWidth : 0) }
  }).value
}
