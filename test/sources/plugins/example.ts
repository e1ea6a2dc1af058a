// Example plugin: a catalog of series with metadata and releases, from its settings or made up.
import {
  type FetchedSeries,
  PluginError,
  type ReleasePage,
  type SeriesHit,
  servePlugin,
} from '../../../lib/sources/sdk.ts'

type Work = { id: string; title: string; year: number; volumes: number }

const works: Work[] = Array.from({ length: 600 }, (_, i) => ({
  id: `work-${i + 1}`,
  title: `Example ${i + 1}`,
  year: 1980 + (i % 40),
  volumes: 1 + (i % 12),
}))

await servePlugin(({ settings, credentials }) => {
  if (settings.needsToken && !credentials.token) throw new PluginError('A token is needed')
  const language = String(settings.language ?? 'en')
  return {
    describe: () => ({
      name: 'example',
      displayName: 'Example catalog',
      version: '1.0.0',
      homepage: 'https://catalog.example/',
      capabilities: ['metadata', 'releases'],
      releaseSources: [
        { key: 'new', displayName: 'New volumes', kind: 'metadata-feed' },
        { key: 'by-series', displayName: 'Volumes of tracked series', kind: 'rss-series' },
      ],
    }),
    searchSeries: ({ query, limit }) =>
      works
        .map(work => toHit(work, query))
        .filter(hit => hit.relevance > 0)
        .sort((a, b) => b.relevance - a.relevance)
        .slice(0, limit),
    fetchSeries({ externalId }) {
      const work = works.find(({ id }) => id === externalId)
      return work ? toSeries(work, language) : null
    },
    // The cursor is the number of the next work, so that a list of any length arrives in pages.
    listReleases({ key, cursor, series }) {
      if (key === 'by-series') {
        const titles = new Set(series.flatMap(({ titles }) => titles))
        const found = works.filter(({ title }) => titles.has(title))
        return toPage(found, { language, cursor: null, isLast: true })
      }
      const from = typeof cursor === 'number' ? cursor : 0
      const next = Math.min(from + 100, works.length)
      return toPage(works.slice(from, next), {
        language,
        cursor: next,
        isLast: next === works.length,
      })
    },
  }
})

function urlOf({ id }: Work): string {
  return `https://catalog.example/works/${id}`
}

function toHit(work: Work, query: string): SeriesHit {
  const [title, wanted] = [work.title.toLowerCase(), query.trim().toLowerCase()]
  return {
    externalId: work.id,
    title: work.title,
    alternateTitles: [],
    year: work.year,
    url: urlOf(work),
    coverUrl: null,
    summary: null,
    relevance: title === wanted ? 1 : title.includes(wanted) ? wanted.length / title.length : 0,
  }
}

function toSeries(work: Work, language: string): FetchedSeries {
  return {
    externalId: work.id,
    url: urlOf(work),
    hash: `${work.id}-${language}-1`,
    metadata: {
      title: work.title,
      summary: `The story of ${work.title}.`,
      publisher: 'Example Press',
      year: work.year,
      language,
      status: 'ended',
      totalVolumeCount: work.volumes,
      genres: ['Adventure'],
      ageRating: 12,
    },
    externalIds: [{ source: 'other-catalog', externalId: `o-${work.id}`, url: null }],
    links: [{ source: 'example', url: urlOf(work) }],
    ratings: [{ source: 'example', rating: 50 + (work.year % 50), votes: work.volumes * 10 }],
    coverUrl: null,
  }
}

function toPage(
  found: Work[],
  { language, ...page }: { language: string; cursor: number | null; isLast: boolean },
): ReleasePage {
  return {
    ...page,
    items: found.map(work => ({
      externalReleaseId: `${work.id}-v${work.volumes}`,
      title: `${work.title} v${work.volumes}`,
      payloadUrl: `${urlOf(work)}/${work.volumes}`,
      mediaUrl: null,
      mediaUrlKind: null,
      infoHash: null,
      groupOrUploader: 'Example Press',
      language,
      chapters: null,
      volumes: [{ start: work.volumes, end: work.volumes }],
      formatHints: { digital: true },
      metadata: {},
      seriesTitles: [work.title],
      seriesIds: { 'plugin:example': work.id },
      releasedAt: `${work.year}-01-01T00:00:00Z`,
    })),
  }
}
