// Records of the Komga-compatible API: every field, its type, and its value if unknown.
import t from 'tap'
import { unrestrictedViewer } from '../../../lib/accounts/viewer.ts'
import { newId } from '../../../lib/base/id.ts'
import { collections, readLists } from '../../../lib/organize/grouping/grouping.ts'
import { createGrouping } from '../../../lib/organize/grouping/write.ts'
import { bookDtos } from '../../../lib/protocols/komga/book-dto.ts'
import { collectionDtos, readListDtos } from '../../../lib/protocols/komga/grouping-dto.ts'
import { libraryDtos } from '../../../lib/protocols/komga/library-dto.ts'
import { seriesDtos } from '../../../lib/protocols/komga/series-dto.ts'
import { dateOf } from '../../../lib/protocols/komga/values.ts'
import { sizeText } from '../../../lib/protocols/publication/publication.ts'
import { createServices } from '../../../lib/store/services.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')
const info = `<?xml version="1.0"?><ComicInfo><Title>First</Title><Number>1.5</Number><Year>2020</Year>
  <Month>3</Month><Writer>Ann</Writer><CoverArtist>Bob</CoverArtist><Genre>Action</Genre><Tags>Blue</Tags>
  <Summary>Of the first.</Summary><Web>https://example.org/1</Web></ComicInfo>`
const shelf = await createTestLibrary(t, all, {
  'Akira/b.cbz': comic({ info, pages: 3 }),
  'Akira/extra.cbz': comic(),
  'Akira/2.cbz': comic(),
  'Bone/1.cbz': comic(),
  'Bone/broken.cbz': Buffer.from('PK not an archive'),
})
await shelf.scan()
const bookNamed = Object.fromEntries(
  (await shelf.books()).map(book => [`${book.folder}/${book.name}`, book]),
)
const first = bookNamed['Akira/b.cbz']!
const broken = bookNamed['Bone/broken.cbz']!
const viewer = unrestrictedViewer(admin.id)
const reader = { viewer, isAdmin: true }
const seconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

t.test('a book', async t => {
  await admin.put(`/books/${first.id}/progress`, { current_page: 2 })
  const [book, other, none] = await bookDtos(sql, reader, [first.id, newId(), broken.id])
  t.equal(none, undefined, 'unknown ids are left out')
  t.match(book, {
    id: first.id,
    seriesId: first.seriesId,
    seriesTitle: 'Akira',
    libraryId: shelf.id,
    name: 'b',
    url: `${shelf.root}/Akira/b.cbz`,
    number: 1,
    created: seconds,
    lastModified: seconds,
    fileLastModified: seconds,
    size: / (Ki)?B$/,
    media: {
      ...{ status: 'READY', mediaType: 'application/zip', pagesCount: 3, comment: '' },
      ...{ epubDivinaCompatible: false, epubIsKepub: false, mediaProfile: 'DIVINA' },
    },
    metadata: {
      ...{ title: 'First', summary: 'Of the first.', number: '1.5', numberSort: 1.5, isbn: '' },
      releaseDate: '2020-03-01',
      tags: ['blue'],
      links: [{ label: String, url: 'https://example.org/1' }],
    },
    readProgress: { page: 2, completed: false, readDate: seconds, deviceName: '' },
    deleted: false,
    oneshot: false,
  })
  t.same(book!.metadata.authors, [
    { name: 'Ann', role: 'writer' },
    { name: 'Bob', role: 'cover' },
  ])
  t.match(other, {
    metadata: { title: String, summary: '', releaseDate: null, authors: [], tags: [], links: [] },
    media: { status: 'ERROR', mediaType: '', pagesCount: 0, comment: String, mediaProfile: '' },
    readProgress: null,
  })
  const [seen] = await bookDtos(sql, { viewer, isAdmin: false }, [first.id])
  t.equal(seen!.url, 'b.cbz', 'paths are for administrators')
})

t.test('numbers of books', async t => {
  const ids = ['b', '2', 'extra'].map(name => bookNamed[`Akira/${name}.cbz`]!.id)
  const books = await bookDtos(sql, reader, ids)
  t.same(
    books.map(book => [book.number, book.metadata.number, book.metadata.numberSort]),
    [
      [1, '1.5', 1.5],
      [2, '2', 2],
      [3, '3', 3],
    ],
  )
})

t.test('a series', async t => {
  const bone = broken.seriesId
  const [series, other] = await seriesDtos(sql, reader, [first.seriesId, bone])
  t.match(series, {
    ...{ id: first.seriesId, libraryId: shelf.id, name: 'Akira', url: `${shelf.root}/Akira` },
    ...{ created: seconds, lastModified: seconds, fileLastModified: seconds },
    ...{ booksCount: 3, booksReadCount: 0, booksUnreadCount: 2, booksInProgressCount: 1 },
    metadata: {
      ...{ status: 'ONGOING', title: 'Akira', titleSort: 'Akira', summary: '', publisher: '' },
      ...{ readingDirection: 'LEFT_TO_RIGHT', language: '', ageRating: null },
      ...{ genres: ['action'], tags: ['blue'], totalBookCount: null, sharingLabels: [] },
      ...{ links: [], alternateTitles: [], titleLock: false, created: seconds },
    },
    booksMetadata: {
      authors: [
        { name: 'Ann', role: 'writer' },
        { name: 'Bob', role: 'cover' },
      ],
      ...{ tags: ['blue'], releaseDate: '2020-03-01', summary: 'Of the first.' },
      summaryNumber: '1.5',
    },
    ...{ deleted: false, oneshot: false },
  })
  t.match(other!.booksMetadata, { releaseDate: null, summary: '', summaryNumber: '', authors: [] })
  const [seen] = await seriesDtos(sql, { viewer, isAdmin: false }, [bone])
  t.equal(seen!.url, '')
})

t.test('libraries, collections and read lists', async t => {
  const [library] = await libraryDtos(sql, reader)
  t.match(library, { id: shelf.id, root: shelf.root, scanInterval: 'DISABLED', unavailable: false })
  const memberIds = [broken.seriesId, first.seriesId]
  const id = await createGrouping(sql, viewer, collections, {
    name: 'Both',
    ordered: true,
    memberIds,
  })
  t.match(await collectionDtos.find({ sql, services: createServices(sql) }, reader, id), {
    seriesIds: memberIds,
    filtered: false,
    createdDate: seconds,
  })
  const restricted = { ...viewer, ageLimit: 12, showsUnrated: false }
  await admin.patch(`/series/${first.seriesId}/metadata`, { ageRating: 6 })
  const filtered = await collectionDtos.find(
    { sql, services: createServices(sql) },
    { viewer: restricted, isAdmin: false },
    id,
  )
  t.match(filtered, { seriesIds: [first.seriesId], filtered: true })
  const list = await createGrouping(sql, viewer, readLists, { name: 'One', memberIds: [first.id] })
  t.match(await readListDtos.load({ sql, services: createServices(sql) }, reader, [list]), [
    { bookIds: [first.id], summary: '', ordered: false },
  ])
})

t.test('sizes and dates', async t => {
  t.same([0, 1023, 1024, 12_897_485].map(sizeText), ['0 B', '1023 B', '1.0 KiB', '12.3 MiB'])
  t.equal(dateOf(2020, null, null), '2020-01-01')
  t.equal(dateOf(2021, 2, 30), '2021-01-01')
  t.equal(dateOf(2020, 2, 29), '2020-02-29')
  t.equal(dateOf(null, 1, 1), null)
})
