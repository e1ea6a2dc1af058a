// A release as a line: what it has, by whom and when, with a link to where it is offered.
import type { ComponentChildren } from 'preact'
import type { Schemas } from '../api/client.ts'
import { languageName } from '../browse/filters/filter-texts.ts'
import { formatDate, t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'

type Release = Schemas['Release']
type Span = { start: number; end: number }

/** `actions`: buttons at the end. */
export function ReleaseLine({
  release,
  actions,
}: {
  release: Release
  actions: ComponentChildren
}) {
  const { payloadUrl, groupOrUploader, language, releasedAt, observedAt, isSeen } = release
  const facts = [
    groupOrUploader,
    language && languageName(language),
    formatDate(releasedAt ?? observedAt),
  ]
  return (
    <li class="release-line">
      <div>
        <a href={payloadUrl} target="_blank" rel="noreferrer noopener">
          {contentOf(release)}
          <Icon name="arrowRight" size={16} isDirectional />
        </a>
        {!isSeen && <span class="badge accent">{t('releases.new')}</span>}
        <p class="secondary-text">{facts.filter(Boolean).join(' · ')}</p>
      </div>
      {actions}
    </li>
  )
}

/** `Volumes 3–4`, or the title that the source states. */
export function contentOf({ volumes, chapters, metadata, seriesTitle }: Release): string {
  const parts = [
    ...(volumes ?? []).map(span => spanText('releases.volume', 'releases.volumes', span)),
    ...(chapters ?? []).map(span => spanText('releases.chapter', 'releases.chapters', span)),
  ]
  return parts.length > 0 ? parts.join(', ') : String(metadata.title ?? seriesTitle)
}

const spanText = (
  one: 'releases.volume' | 'releases.chapter',
  several: 'releases.volumes' | 'releases.chapters',
  { start, end }: Span,
) => (start === end ? t(one, { number: start }) : t(several, { first: start, last: end }))
