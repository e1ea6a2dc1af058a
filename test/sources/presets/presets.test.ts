// Presets against servers that answer in the shapes of the services, with their faults.
import { test } from 'tap'
import { presetFiles } from '../../../lib/sources/presets/presets.ts'
import { failing } from '../failing.ts'
import { openTestSources } from '../sources.ts'
import { bookServices } from './book-services.ts'
import { call, type Fault, openPreset } from './open-preset.ts'
import { services } from './services.ts'

const expected: Record<string, { query: string; hit: object; series: object }> = {
  anilist: {
    query: 'Blue "Box"',
    hit: { externalId: '132029', title: 'Blue Box', year: 2021, summary: 'Taiki loves badminton.' },
    series: {
      metadata: {
        title: 'Blue Box',
        status: 'ongoing',
        year: 2021,
        genres: ['Romance', 'Sports'],
        tags: ['Badminton'],
        readingDirection: 'rtl',
        authors: [
          { name: 'Kouji Miura', role: 'author' },
          { name: 'Kouji Miura', role: 'illustrator' },
        ],
      },
      externalIds: [{ source: 'myanimelist', externalId: '137714' }],
      ratings: [{ rating: 81 }],
      url: 'https://anilist.co/manga/132029',
    },
  },
  mangaupdates: {
    query: 'Blue Box',
    hit: { externalId: '15180124327', title: 'Ao no Hako', alternateTitles: ['Blue Box'] },
    series: {
      metadata: {
        title: 'Ao no Hako',
        status: 'ongoing',
        publisher: 'VIZ Media',
        genres: ['Romance', 'Sports'],
        authors: [{ role: 'author' }, { role: 'illustrator' }],
      },
      ratings: [{ votes: 900 }],
    },
  },
  mangadex: {
    query: 'Blue Box',
    hit: {
      title: 'Blue Box',
      coverUrl: /^https:\/\/uploads\.mangadex\.org\/covers\/a77742b1-[-0-9a-f]+\/c\.jpg\.256\.jpg$/,
    },
    series: {
      metadata: {
        summary: 'Taiki loves badminton.',
        genres: ['Romance'],
        tags: ['School Life'],
        alternateTitles: [{ title: 'アオのハコ' }, { title: 'Ao no Hako' }],
      },
      externalIds: [{ source: 'anilist', externalId: '132029' }, { source: 'myanimelist' }],
    },
  },
  mangabaka: {
    query: 'Blue Box',
    hit: { externalId: '4101', title: 'Blue Box' },
    series: {
      metadata: { status: 'ongoing', publisher: 'VIZ Media', totalChapterCount: 180 },
      coverUrl: 'https://img.example/raw.jpg',
      ratings: [{ rating: 80.5 }],
    },
  },
  'comic-vine': {
    query: 'Saga',
    hit: { title: 'Saga', year: 2012, alternateTitles: ['Saga: Image', 'The Saga'] },
    series: {
      metadata: { summary: 'An epic space opera.', publisher: 'Image', totalChapterCount: 72 },
    },
  },
  metron: {
    query: 'Saga',
    hit: { externalId: '1', title: 'Saga', year: 2012 },
    series: {
      metadata: { status: 'hiatus', publisher: 'Image Comics', genres: ['Science Fiction'] },
      externalIds: [{ source: 'comic-vine', externalId: '46568' }],
    },
  },
}

test('each preset finds and fetches a series of its service', async t => {
  const names = Object.keys(services)
  t.same(
    presetFiles.map(({ name }) => name).sort(),
    [...names, ...Object.keys(bookServices)].sort(),
  )
  for (const name of names) {
    const { source, sent } = await openPreset(t, name)
    const { query, hit, series } = expected[name]!
    const [found] = await source.searchSeries!({ query, limit: 10 }, call)
    t.match(found, hit, name)
    t.match(await source.fetchSeries!(found!.externalId, call), series, name)
    t.equal(await source.fetchSeries!('999', call), null, `${name}: there is no such series`)
    t.match(await source.describe(call), { capabilities: ['metadata'] }, name)
    t.ok(sent.length >= 4, name)
  }
})

test('keys are sent where the service wants them, and never shown', async t => {
  const { source, sent } = await openPreset(t, 'comic-vine', { key: 'wrong-secret' })
  const error = await source.searchSeries!({ query: 'Saga', limit: 1 }, call).catch(
    (thrown: Error) => thrown,
  )
  t.match(error, {
    kind: 'status',
    message: /refuses access \(status 401\): check the credentials/,
  })
  t.match(sent[0]!.url, /[?&]api_key=wrong-secret$/)
  t.notMatch(JSON.stringify(error, Object.getOwnPropertyNames(error)), /wrong-secret/)
})

test('faults of a service are failures in words, and no match', async t => {
  const { source, state } = await openPreset(t, 'mangadex')
  const search = () => source.searchSeries!({ query: 'Blue Box', limit: 1 }, call)
  const faults: [Fault, object][] = [
    [{ body: '<html>Checking your browser</html>' }, { kind: 'invalid', message: /not JSON/ }],
    [
      { status: 500, body: '{}' },
      { kind: 'status', message: /status 500/ },
    ],
    [{ body: `"${'x'.repeat(11 * 1024 * 1024)}"` }, { kind: 'too_large' }],
    [{ status: 429, headers: { 'retry-after': '30' }, body: '' }, { kind: 'limited' }],
  ]
  for (const [fault, failure] of faults) {
    state.fault = fault
    await t.rejects(search(), failing(failure))
  }
  state.fault = null
  await t.rejects(search(), failing({ kind: 'limited' }), 'it is not called during the pause')
})

test('a preset is checked like any configuration', t => {
  const sources = openTestSources(t)
  const check = (config: object, credentials = {}) =>
    sources.checkConfig({ type: 'preset', config: config as never, credentials })
  check({ preset: 'anilist' })
  check({ preset: 'comic-vine' }, { key: 'x' })
  const bad: [object, Record<string, string>, RegExp][] = [
    [{ preset: 'none' }, {}, /config\.preset/],
    [{ preset: 'anilist', url: 'https://x.example' }, {}, /config\.url/],
    [{ preset: 'comic-vine' }, {}, /credentials\.key \(API key\) is required/],
    [{ preset: 'anilist' }, { Cookie: 'x' }, /credentials\.Cookie/],
  ]
  for (const [config, credentials, message] of bad)
    t.throws(() => check(config, credentials), { name: 'Invalid', message })
  t.end()
})
