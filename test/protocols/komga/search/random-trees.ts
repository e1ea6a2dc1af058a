// Random search conditions of Komga: every key with every operator of its family, at any depth.
import type { Random } from '../../../kit/random.ts'
import type { Tree } from './evaluator.ts'
import type { KomgaFacts } from './facts.ts'

/** Ids that conditions name. */
export type KnownIds = {
  libraries: KomgaFacts['libraries']
  series: readonly { id: string }[]
  collections: ReadonlyMap<string, unknown>
  readLists: ReadonlyMap<string, unknown>
}

type Make = (random: Random) => object

const oneOf =
  (...makers: Make[]): Make =>
  random =>
    random.pick(makers)(random)
const withValue =
  (operators: readonly string[], values: readonly unknown[]): Make =>
  ({ pick }) => ({ operator: pick(operators), value: pick(values) })
const equality = (...values: unknown[]) => withValue(['is', 'isNot'], values)
const nulls: Make = ({ pick }) => ({ operator: pick(['isNull', 'isNotNull']) })
const nullable = (...values: unknown[]) => {
  const test = equality(...values)
  return oneOf(test, test, nulls)
}
const strings = [
  ...['is', 'isNot', 'contains', 'doesNotContain', 'beginsWith', 'doesNotBeginWith'],
  ...['endsWith', 'doesNotEndWith'],
]
const numeric = (...values: number[]) =>
  withValue(['is', 'isNot', 'greaterThan', 'lessThan'], values)
const flag: Make = ({ pick }) => ({ operator: pick(['isTrue', 'isFalse']) })
const releaseDate = oneOf(
  ({ pick, below }) => ({
    operator: pick(['before', 'after']),
    dateTime: new Date(
      Date.UTC(1990 + below(5), below(4)) + pick([-86_400_000, -1, 0, 1, 43_200_000]),
    ).toISOString(),
  }),
  ({ pick, below }) => ({
    operator: pick(['isInTheLast', 'isNotInTheLast']),
    duration: `P${11_500 + below(1_500)}D`,
  }),
  nulls,
)
const title = withValue(strings, [
  ...['Naruto', 'emile', 'one', '撃', "don't", '%', '_', 'X', 'a_b', 'Ölbaum', '', 'the'],
])
const credits: Make = ({ pick }) => ({
  operator: pick(['is', 'isNot']),
  value: {
    ...pick([{}, { name: pick(['akira toriyama', 'EMILE ZOLA', '尾田', 'writer', 'No Author']) }]),
    ...pick([{}, { role: pick(['writer', 'cover', 'penciller', 'traducteur', 'letterer']) }]),
  },
})
const readStatus = equality('UNREAD', 'READ', 'IN_PROGRESS')

const common = (facts: KnownIds): Record<string, Make> => ({
  libraryId: equality(...facts.libraries, 'none'),
  deleted: flag,
  oneShot: flag,
  title,
  releaseDate,
  tag: nullable('LONG', 'classic', 'Short', 'red_1', 'none such'),
  readStatus,
  author: credits,
})

export const seriesTests = (facts: KnownIds): Record<string, Make> => ({
  ...common(facts),
  collectionId: equality(...facts.collections.keys()),
  complete: flag,
  titleSort: title,
  genre: nullable('ACTION', 'sci-fi', 'epique', '百合'),
  sharingLabel: nullable('kids', 'ADULT'),
  publisher: equality('GLENAT', 'viz', '', 'none'),
  language: equality('en', 'JA', ''),
  ageRating: oneOf(numeric(6, 12, 18, 7), nulls),
  seriesStatus: equality('ENDED', 'ONGOING', 'ABANDONED', 'HIATUS'),
})

export const bookTests = (facts: KnownIds): Record<string, Make> => ({
  ...common(facts),
  seriesId: equality(...facts.series.slice(0, 8).map(s => s.id)),
  readListId: equality(...facts.readLists.keys()),
  numberSort: numeric(0, 1, 3.5, 5, 8),
  mediaStatus: equality('READY', 'UNKNOWN', 'ERROR', 'UNSUPPORTED', 'OUTDATED'),
  mediaProfile: equality('DIVINA', 'PDF', 'EPUB'),
  poster: ({ pick }) => ({
    operator: pick(['is', 'isNot']),
    value: {
      ...pick([{}, { type: pick(['GENERATED', 'SIDECAR', 'USER_UPLOADED']) }]),
      ...pick([{}, { selected: pick([true, false]) }]),
    },
  }),
})

/** A tree of a few levels; groups may be empty. */
export function randomTree(random: Random, tests: Record<string, Make>, depth = 3): Tree {
  const { below, pick } = random
  if (depth === 0 || below(3) === 0) {
    const key = pick(Object.keys(tests))
    return { [key]: tests[key]!(random) } as Tree
  }
  const parts = Array.from({ length: below(4) }, () => randomTree(random, tests, depth - 1))
  return pick([{ allOf: parts }, { anyOf: parts }])
}
