// Plain-text output of lists and records: aligned columns, local times.
import { withoutControls } from '../log-text.ts'

type Cell = string | number

/** Rows below their headings; numbers are aligned to the right. */
export function textTable(headings: string[], rows: Cell[][]): string {
  return aligned([headings, ...rows], column => typeof rows[0]?.[column] === 'number')
}

/** One line for each name and value. */
export const textRecord = (values: [name: string, value: Cell][]): string =>
  aligned(values, () => false)

function aligned(rows: Cell[][], isNumeric: (column: number) => boolean): string {
  const texts = rows.map(row => row.map(cell => withoutControls(String(cell)).replace(/\n/g, ' ')))
  const widths = texts[0]!.map((_, column) => Math.max(...texts.map(row => width(row[column]!))))
  return texts
    .map(row =>
      row
        .map((text, column) => {
          const padding = ' '.repeat(widths[column]! - width(text))
          return isNumeric(column) ? padding + text : text + padding
        })
        .join('  ')
        .trimEnd()
        .concat('\n'),
    )
    .join('')
}

// East Asian characters and emoji take two columns, combining marks none.
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/gu

function width(text: string): number {
  const characters = [...text.replace(/\p{M}/gu, '')].length
  return characters + (text.match(wide)?.length ?? 0)
}

// The Swedish format is year, month, day.
const localTime = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short' })

export const timeText = (time: Date | string | null): string =>
  time === null ? 'never' : localTime.format(new Date(time))
