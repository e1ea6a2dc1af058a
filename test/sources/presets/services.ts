// Answers in the shapes of the services that presets are for, as their public documentation and clients show them.
import type { IncomingMessage } from 'node:http'

export type Reply = { status?: number; json: unknown }
export type Service = (request: IncomingMessage & { text: string; at: URL }) => Reply

export const notFound: Reply = { status: 404, json: { error: 'not found' } }

const anilistMedia = {
  id: 132029,
  idMal: 137714,
  title: { romaji: 'Ao no Hako', english: 'Blue Box', native: 'アオのハコ' },
  synonyms: ['Blue Box!'],
  status: 'RELEASING',
  startDate: { year: 2021 },
  volumes: null,
  chapters: null,
  genres: ['Romance', 'Sports'],
  tags: [
    { name: 'Badminton', isMediaSpoiler: false },
    { name: 'Engagement', isMediaSpoiler: true },
  ],
  description: 'Taiki loves <i>badminton</i>.<br>',
  averageScore: 81,
  isAdult: false,
  countryOfOrigin: 'JP',
  siteUrl: 'https://anilist.co/manga/132029',
  coverImage: { large: 'https://img.example/l.jpg', extraLarge: 'https://img.example/xl.jpg' },
  staff: {
    edges: [
      { role: 'Story & Art', node: { name: { full: 'Kouji Miura' } } },
      { role: 'Translator (English)', node: { name: { full: 'Someone Else' } } },
    ],
  },
}

const anilist: Service = ({ method, text }) => {
  if (method !== 'POST') return { status: 405, json: {} }
  const { variables } = JSON.parse(text) as { variables: Record<string, unknown> }
  if (typeof variables.search === 'string')
    return { json: { data: { Page: { media: [anilistMedia] } } } }
  if (!Number.isInteger(variables.id))
    return { status: 400, json: { errors: [{ message: 'got invalid value' }] } }
  return variables.id === 132029
    ? { json: { data: { Media: anilistMedia } } }
    : {
        status: 404,
        json: { errors: [{ message: 'Not Found.', status: 404 }], data: { Media: null } },
      }
}

const mangaupdatesSeries = {
  series_id: 15180124327,
  title: 'Ao no Hako',
  url: 'https://www.mangaupdates.com/series/6z1uqw7/ao-no-hako',
  associated: [{ title: 'Blue Box' }, { title: 'アオのハコ' }],
  description: 'Taiki loves badminton.',
  image: { url: { original: 'https://img.example/o.jpg', thumb: 'https://img.example/t.jpg' } },
  type: 'Manga',
  year: '2021',
  bayesian_rating: 8.12,
  rating_votes: 900,
  genres: [{ genre: 'Romance' }, { genre: 'Sports' }],
  categories: [{ series_id: 15180124327, category: 'Badminton', votes: 9 }],
  status: '20 Volumes (Ongoing)',
  completed: false,
  authors: [
    { name: 'MIURA Kouji', author_id: 1, type: 'Author' },
    { name: 'MIURA Kouji', author_id: 1, type: 'Artist' },
  ],
  publishers: [
    { publisher_name: 'Shueisha', type: 'Original' },
    { publisher_name: 'VIZ Media', type: 'English' },
  ],
}

const mangaupdates: Service = ({ method, at, text }) => {
  if (method === 'POST' && at.pathname === '/v1/series/search') {
    const { search, perpage } = JSON.parse(text) as { search: string; perpage: number }
    if (typeof search !== 'string' || !Number.isInteger(perpage)) return { status: 400, json: {} }
    const { series_id, title, url, description, image, type, year } = mangaupdatesSeries
    const record = { series_id, title, url, description, image, type, year }
    return { json: { total_hits: 1, results: [{ record, hit_title: 'Blue Box' }] } }
  }
  return at.pathname === '/v1/series/15180124327' ? { json: mangaupdatesSeries } : notFound
}

const mangadexId = 'a77742b1-befd-49a4-bff5-1ad4e6b0ef7b'
const tag = (group: string, name: string) => ({
  id: name,
  type: 'tag',
  attributes: { name: { en: name }, group, version: 1 },
})
const mangadexManga = {
  id: mangadexId,
  type: 'manga',
  attributes: {
    title: { en: 'Blue Box' },
    altTitles: [{ ja: 'アオのハコ' }, { 'ja-ro': 'Ao no Hako' }, { fr: 'Blue Box FR' }],
    description: { en: 'Taiki loves badminton.', de: 'Taiki mag Badminton.' },
    links: { al: '132029', mal: '137714', mu: '6z1uqw7' },
    originalLanguage: 'ja',
    lastVolume: '',
    lastChapter: '',
    status: 'ongoing',
    year: 2021,
    contentRating: 'safe',
    tags: [tag('genre', 'Romance'), tag('theme', 'School Life'), tag('format', 'Long Strip')],
  },
  relationships: [
    { id: '1', type: 'author', attributes: { name: 'Miura Kouji' } },
    { id: '1', type: 'artist', attributes: { name: 'Miura Kouji' } },
    { id: '2', type: 'cover_art', attributes: { fileName: 'c.jpg', volume: '1' } },
  ],
}

const mangadex: Service = ({ at }) => {
  if (at.pathname === '/manga')
    return at.searchParams.get('title') && at.searchParams.get('includes[]') === 'cover_art'
      ? { json: { result: 'ok', response: 'collection', data: [mangadexManga], total: 1 } }
      : { status: 400, json: { result: 'error' } }
  return at.pathname === `/manga/${mangadexId}`
    ? { json: { result: 'ok', response: 'entity', data: mangadexManga } }
    : { status: 404, json: { result: 'error', errors: [] } }
}

const mangabakaSeries = {
  id: 4101,
  state: 'active',
  title: 'Blue Box',
  native_title: 'アオのハコ',
  romanized_title: 'Ao no Hako',
  secondary_titles: { en: [{ type: 'official', title: 'Blue Box!' }] },
  cover: { raw: { url: 'https://img.example/raw.jpg' }, x150: { x1: null } },
  authors: ['Kouji Miura'],
  artists: ['Kouji Miura'],
  description: 'Taiki loves badminton.',
  year: 2021,
  status: 'releasing',
  content_rating: 'safe',
  type: 'manga',
  rating: 80.5,
  final_volume: null,
  total_chapters: '180',
  publishers: [
    { name: 'Shueisha', note: null, type: 'Original' },
    { name: 'VIZ Media', note: null, type: 'English' },
  ],
  genres: ['romance', 'sports'],
  tags: ['Badminton'],
  source: { anilist: { id: 132029, rating: 81 }, my_anime_list: { id: 137714, rating: null } },
}

const mangabaka: Service = ({ at }) => {
  if (at.pathname === '/v1/series/search')
    return { json: { status: 200, pagination: { count: 1 }, data: [mangabakaSeries] } }
  return at.pathname === '/v1/series/4101'
    ? { json: { status: 200, data: mangabakaSeries } }
    : { status: 404, json: { status: 404, message: 'Not found' } }
}

const comicVineVolume = {
  id: 46568,
  name: 'Saga',
  aliases: 'Saga: Image\nThe Saga',
  start_year: '2012',
  site_detail_url: 'https://comicvine.gamespot.com/saga/4050-46568/',
  image: { medium_url: 'https://img.example/m.jpg', original_url: 'https://img.example/o.jpg' },
  deck: null,
  description: '<p>An epic <b>space opera</b>.</p>',
  publisher: { id: 513, name: 'Image' },
  count_of_issues: 72,
}

const comicVine: Service = ({ at }) => {
  if (at.searchParams.get('api_key') !== 'cv-key')
    return { status: 401, json: { error: 'Invalid API Key', status_code: 100, results: [] } }
  const found = (results: unknown) => ({ json: { error: 'OK', status_code: 1, results } })
  if (at.pathname === '/api/search/') return found([comicVineVolume])
  if (at.pathname === '/api/volume/4050-46568/') return found(comicVineVolume)
  return { json: { error: 'Object Not Found', status_code: 101, results: [] } }
}

const metronSeries = {
  id: 1,
  name: 'Saga',
  sort_name: 'Saga',
  volume: 1,
  series_type: { id: 1, name: 'Ongoing Series' },
  status: 'Hiatus',
  publisher: { id: 7, name: 'Image Comics' },
  imprint: null,
  year_began: 2012,
  year_end: null,
  desc: 'An epic space opera.',
  issue_count: 72,
  genres: [{ id: 1, name: 'Science Fiction' }],
  associated: [{ id: 2, series: 'Saga Deluxe (2014)' }],
  cv_id: 46568,
  resource_url: 'https://metron.cloud/series/saga-2012/',
}

const metron: Service = ({ at, headers }) => {
  const basic = `Basic ${Buffer.from('ana:metron-pass').toString('base64')}`
  if (headers.authorization !== basic) return { status: 401, json: { detail: 'Invalid.' } }
  const hit = { id: 1, series: 'Saga (2012)', year_began: 2012, issue_count: 72, volume: 1 }
  if (at.pathname === '/api/series/' && at.searchParams.has('name'))
    return { json: { count: 1, next: null, previous: null, results: [hit] } }
  return at.pathname === '/api/series/1/' ? { json: metronSeries } : notFound
}

export const services: Record<string, Service> = {
  anilist,
  'comic-vine': comicVine,
  mangabaka,
  mangadex,
  mangaupdates,
  metron,
}
