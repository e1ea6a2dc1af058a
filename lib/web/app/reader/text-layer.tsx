// Transparent words above the image of a PDF page, so that the browser can select and copy them; found words are marked.
import type { CSSProperties } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Size } from './page-layout.ts'
import type { PageText } from './page-text.ts'
import type { Reader } from './reader.ts'

type TextLayerProps = { reader: Reader; number: number; size: Size; style: CSSProperties }

/** More words than a page to read has; the server sends up to twice as many. */
const maxWords = 5_000

/** `size` and `style`: of the image. */
export function TextLayer({ reader, number, size, style }: TextLayerProps) {
  const text = reader.texts.textOf(number).value
  const lines = useMemo(() => (text ? fitted(text) : []), [text])
  const { width, height } = size
  const found = reader.found.value?.pageNumber === number ? reader.found.value.boxes : []
  const boxStyle = ({ x, y, ...box }: Box) => ({
    left: `${x * width}px`,
    top: `${y * height}px`,
    width: `${box.width * width}px`,
    height: `${box.height * height}px`,
  })
  return (
    <div class="reader-text" style={style} dir="ltr">
      {found.map((box, i) => (
        <div key={`found ${i}`} class="reader-found" style={boxStyle(box)} />
      ))}
      {lines.map((words, i) => (
        <div key={i}>
          {words.map(({ stretch, ...word }, j) => (
            <span
              key={j}
              class="reader-word"
              style={{
                left: `${word.x * width}px`,
                top: `${word.y * height}px`,
                fontSize: `${word.height * height}px`,
                transform: `scaleX(${(stretch * width) / height})`,
              }}
            >
              {`${word.text} `}
            </span>
          ))}
        </div>
      ))}
    </div>
  )
}

type Box = { x: number; y: number; width: number; height: number }

const sampleSize = 100
const font = `${sampleSize}px sans-serif`

/** The words with how much wider the browser's letters have to be, on a square page. */
function fitted({ lines }: PageText) {
  const context = document.createElement('canvas').getContext('2d')!
  context.font = font
  let count = 0
  return lines.map(({ words }) =>
    words.slice(0, Math.max(0, maxWords - (count += words.length))).map(word => {
      const natural = context.measureText(word.text).width / sampleSize
      return { ...word, stretch: word.width / Math.max(0.01, natural * word.height) }
    }),
  )
}
