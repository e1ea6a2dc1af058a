// Display of an EPUB: what reflowable books and books of fixed layout have in common.

import type { Movement } from '../../reading/recorder.ts'
import type { Publication, Section } from '../content/publication.ts'
import type { EpubSettings } from '../settings.ts'
import type { Palette } from './presentation.ts'

/** Where a section is opened: at its start, its last page, an element, or a fraction of its text. */
export type Target = {
  section: number
  at?: 'end' | { id: string } | { progression: number; text?: string | undefined }
}

export type Position = {
  section: number
  /** From 0, in the section. */
  page: number
  pages: number
  progression: number
  totalProgression: number
  /** The last page of the book. */
  isEnd: boolean
  /** The first words that are displayed. */
  text: string
  /** Entry of the contents by index; -1 before the first. */
  entry: number
}

export type BookView = {
  /** Throws ApiError. */
  open(target: Target, movement: Movement): Promise<void>
  /** A page or a screen on; false at the start and at the end of the book. */
  turn(step: 1 | -1): Promise<boolean>
  /** After the settings or the size of the host changed. */
  layOut(): void
  /** The document that is displayed at a point of the window, and the point in its frame. */
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
  /** A document is displayed for the first time. */
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
