// What is said of a book in a few lines.
import type { Publication } from './publication.ts'

/** Plain text: why its file cannot be read, if so, and its summary. Null when there is neither. */
export function aboutOf({ unreadable, summary }: Publication): string | null {
  if (unreadable === null) return summary
  return [`This file cannot be read: ${unreadable}`, summary ?? ''].join('\n').trim()
}
