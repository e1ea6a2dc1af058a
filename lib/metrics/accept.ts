// Which of its forms a client wants the metrics in.
import type { Form } from './registry.ts'

const texts: Record<string, Form> = {
  'application/openmetrics-text': 'openmetrics',
  'text/plain': 'text',
}

/**
 * The text form that an Accept header prefers; null when it rather takes JSON. Only types that are
 * named count: a browser that takes anything gets JSON.
 */
export function textForm(accept: string | undefined): Form | null {
  const asked = (accept ?? '').split(',').map(parse)
  const json = Math.max(0, ...asked.filter(a => a.type === 'application/json').map(a => a.quality))
  const best = asked
    .filter(({ type, quality }) => type in texts && quality > json)
    .reduce<Asked | null>((best, one) => (best && best.quality >= one.quality ? best : one), null)
  return best && texts[best.type]!
}

type Asked = { type: string; quality: number }

function parse(part: string): Asked {
  const [type = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
  const quality = parameters.find(text => text.startsWith('q='))?.slice(2)
  const number = quality === undefined ? 1 : Number(quality)
  return { type, quality: Number.isFinite(number) ? number : 0 }
}
