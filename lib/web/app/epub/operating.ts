// Interactive elements other than links: media that play or pause, and details that open.
import type { BookReader } from './book-reader.ts'
import type { Point } from './following.ts'

/** Whether there was one at this point of the window. */
export function operateAt(reader: BookReader, point: Point): boolean {
  const shown = reader.documentAt(point)
  const target = shown?.document.elementFromPoint(shown.x, shown.y)
  const media = target?.closest<HTMLMediaElement>('audio, video')
  const details = target?.closest('summary')?.closest('details')
  if (details) details.open = !details.open
  if (media?.paused) void media.play().catch(() => {})
  else media?.pause()
  return Boolean(details ?? media)
}
