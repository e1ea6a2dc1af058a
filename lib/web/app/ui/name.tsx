// Names and paths, whose writing direction may differ from the page's.
import { href } from '../routing/router.ts'

/** A name as a link to a page of the application. */
export function NameLink({ path, name }: { path: string; name: string }) {
  return (
    <a href={href(path)}>
      <bdi>{name}</bdi>
    </a>
  )
}

export function FilePath({ path }: { path: string }) {
  return (
    <code class="file-path" dir="ltr">
      {path}
    </code>
  )
}
