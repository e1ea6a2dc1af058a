// Display of an EPUB: the interface shared by reflowable and fixed-layout books.

import type { Movement } from '../../reading/recorder.ts'
import type { Publication, Section } from '../content/publication.ts'
import type { EpubSettings } from '../settings.ts'
import type { Palette } from './presentation.ts'

/** Opening place in a section: start, last page, an element, or a fraction of its text. */
export type Target = {
  section: number
  at?: 'end' | { id: string } | { progression: number; text?: string | undefined }
}

export type Position = {
  section: number
  /** Page in the section, from 0. */
  page: number
  pages: number
  progression: number
  totalProgression: number
  /** The displayed part of the book: sections, with the progression in them as the fraction. The end is not in it. */
  shown: { from: number; to: number }
  /** Whether this is the last page of the book. */
  isEnd: boolean
  /** The first words that are displayed. */
  text: string
  /** Index of the table of contents entry; -1 before the first. */
  entry: number
}

export type BookView = {
  /** Throws ApiError. */
  open(target: Target, movement: Movement): Promise<void>
  /** Moves by a page or a screen; false at the start and the end of the book. */
  turn(step: 1 | -1): Promise<boolean>
  /** Called after the settings or the size of the host change. */
  layOut(): void
  /** The document at a point of the window, and the point in its frame. */
  documentAt(
    x: number,
    y: number,
  ): { document: Document; path: string; x: number; y: number } | null
  /** All documents that are displayed. */
  documents(): Document[]
  isRightToLeft(): boolean
  dispose(): void
}

export type ViewOptions = {
  host: HTMLElement
  publication: Publication
  settings: () => EpubSettings
  palette: () => Palette
  onMoved: (position: Position, movement: Movement) => void
  /** Called when a document is first displayed. */
  onDocument: (document: Document, path: string) => void
}

export const totalProgressionAt = (
  { positions }: Publication,
  { start, count }: Section,
  progression: number,
): number => Math.min(1, (start + progression * count) / positions)

/** The section and the progression in it at a fraction of the whole book. */
export function targetAt({ sections, positions }: Publication, totalProgression: number): Target {
  const before = totalProgression * positions
  const found = sections.findIndex(({ start, count }) => before < start + count)
  const section = found < 0 ? sections.length - 1 : found
  const { start, count } = sections[section]!
  return { section, at: { progression: Math.min(1, Math.max(0, (before - start) / count)) } }
}
