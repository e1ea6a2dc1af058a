// The root of the catalogue: the way to everything else.
import { catalogue, type Entry, navigation, type Ref } from '../feed.ts'
import { keepReading, newBooks, onDeck, releases } from './books.ts'
import { libraries } from './entry.ts'
import { groupsOf } from './home.ts'
import { allSeries, genres, newSeries, publishers, tags, updatedSeries } from './series-list.ts'
import type { Shelf } from './shelf.ts'

const leadTo = ({ path, title, kind }: Ref): Entry => ({ path, title, kind, updated: null })

const entries: Entry[] = [
  leadTo(keepReading),
  leadTo(onDeck),
  { ...leadTo(newBooks), rel: 'http://opds-spec.org/sort/new' },
  ...[releases, allSeries, newSeries, updatedSeries].map(leadTo),
  ...[libraries, publishers, genres, tags].map(leadTo),
]

export const root: Shelf = {
  path: '',
  summary: 'The root of the catalogue',
  find: async asked =>
    navigation({
      ...catalogue,
      up: null,
      entries,
      groups: asked.version === 2 ? await groupsOf(asked, null) : [],
    }),
}
