// What was found on a source, as a link to it.
import type { Schemas } from '../api/client.ts'

export function FoundLink({ found: { title, year, url } }: { found: Schemas['FoundHit'] }) {
  const text = year ? `${title} (${year})` : title
  if (!url) return <>{text}</>
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {text}
    </a>
  )
}
