// A series or novel of the picture: what its files state, and how its covers look.
import type { Scene } from '../drawing.ts'

export type Title = {
  series: string
  author: string
  artist?: string
  publisher: string
  year: number
  genres: string
  summary: string
  /** Titles of the books; a novel has one. */
  books: string[]
  pages: number
  scene: Scene
  /** Top, bottom, far, near, light: one for each book, repeated. */
  colors: string[]
  /** The font of the title on the cover. */
  font: string
  /** Bold by default. */
  weight?: 'normal'
  size: number
  lines: string[]
  ink: string
  /** Between the lines, as a part of the size. */
  leading?: number
}
