// Drawing of covers as SVG: sizes, colors by role, and shapes that scenes share.
import type { Random } from '../../test/kit/random.ts'

export const width = 480
export const height = 720

/** Colors of a cover by role. */
export type Colors = {
  /** Behind everything, from the top to the bottom. */
  top: string
  bottom: string
  /** Shapes in the distance and in the foreground. */
  far: string
  near: string
  /** Sun, windows, title. */
  light: string
}

/** Draws a cover without its title. */
export type Scene = (colors: Colors, random: Random) => string

/** Five colors separated by spaces: top, bottom, far, near, light. */
export function colorsOf(text: string): Colors {
  const [top = '', bottom = '', far = '', near = '', light = ''] = text.split(' ')
  return { top, bottom, far, near, light }
}

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

export const between = (random: Random, low: number, high: number): number =>
  low + random.next() * (high - low)

export const background = ({ top, bottom }: Colors): string =>
  `<linearGradient id="ground" x2="0" y2="1"><stop stop-color="${top}"/><stop offset="1" stop-color="${bottom}"/></linearGradient>
  <rect width="${width}" height="${height}" fill="url(#ground)"/>`

export const circle = (x: number, y: number, r: number, fill: string, more = ''): string =>
  `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}" ${more}/>`

export const rect = (x: number, y: number, w: number, h: number, fill: string, more = ''): string =>
  `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}" ${more}/>`

export const path = (d: string, fill: string, more = ''): string =>
  `<path d="${d}" fill="${fill}" ${more}/>`

export const line = (d: string, stroke: string, strokeWidth: number, more = ''): string =>
  `<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${strokeWidth}" stroke-linecap="round" ${more}/>`

/** Stars above `bottom`, half of them faint. */
export const stars = (random: Random, count: number, bottom: number, fill: string): string =>
  range(count)
    .map(i => {
      const [x, y] = [between(random, 0, width), between(random, 0, bottom)]
      return circle(x, y, between(random, 0.8, 2.4), fill, `opacity="${i % 2 ? 0.9 : 0.45}"`)
    })
    .join('')

/** A ridge from side to side: `rough` is the height of its peaks. */
export function ridge(random: Random, y: number, rough: number, steps: number, fill: string) {
  const points = range(steps + 1).map(i => {
    const peak = i % 2 ? -rough * between(random, 0.5, 1) : rough * between(random, 0, 0.4)
    return `L${(i * width) / steps} ${y + peak}`
  })
  return path(`M0 ${height}${points.join('')}V${height}Z`, fill)
}

/** A soft hill or wave from side to side. */
export function swell(random: Random, y: number, rise: number, waves: number, fill: string) {
  const step = width / waves
  const curves = range(waves + 1).map(() => {
    const up = rise * between(random, 0.6, 1)
    return `q${step / 4} ${-up} ${step / 2} 0t${step / 2} 0`
  })
  return path(`M${-step * random.next()} ${y}${curves.join('')}V${height}H${-step}Z`, fill)
}
