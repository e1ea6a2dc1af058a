// The conditions that komga-client 0.10 builds (Komelia, Komf): every field with every operator that it has, in the
// order of its classes. It sends a member `type` in each node, the discriminator of its serialization.

type Json = Record<string, unknown>

const equality = ['is', 'isNot']
const strings = [
  ...['is', 'isNot', 'contains', 'doesNotContain', 'beginsWith', 'doesNotBeginWith'],
  ...['endsWith', 'doesNotEndWith'],
]
const numbers = [...equality, 'greaterThan', 'lessThan']

const test = (field: string, value: unknown, operators = equality): Json[] =>
  operators.map(operator => ({ [field]: { operator, value } }))
const operatorsAlone = (field: string, operators: string[]): Json[] =>
  operators.map(operator => ({ [field]: { operator } }))
const nulls = (field: string) => operatorsAlone(field, ['isNull', 'isNotNull'])
const flag = (field: string) => operatorsAlone(field, ['isTrue', 'isFalse'])

const releaseDate: Json[] = [
  ...['before', 'after'].map(operator => ({
    releaseDate: { operator, dateTime: '2010-01-01T00:00:00Z' },
  })),
  ...['isInTheLast', 'isNotInTheLast'].map(operator => ({
    releaseDate: { operator, duration: 'PT24H' },
  })),
  ...nulls('releaseDate'),
]

export const clientSeriesConditions = (libraryId: string): Json[] => [
  ...test('libraryId', libraryId),
  ...test('collectionId', 'x'),
  ...['deleted', 'complete', 'oneShot'].flatMap(flag),
  ...['title', 'titleSort'].flatMap(field => test(field, 'a', strings)),
  ...releaseDate,
  ...['tag', 'sharingLabel', 'genre'].flatMap(field => [...test(field, 'a'), ...nulls(field)]),
  ...test('publisher', 'P'),
  ...test('language', 'ja'),
  ...test('ageRating', 12, numbers),
  ...nulls('ageRating'),
  ...test('readStatus', 'READ'),
  ...[{ name: 'A', role: 'writer' }, { name: 'A' }, { role: 'writer' }].flatMap(credit =>
    test('author', credit),
  ),
  ...test('seriesStatus', 'ENDED'),
]

export const clientBookConditions = (libraryId: string, seriesId: string): Json[] => [
  ...test('libraryId', libraryId),
  ...test('readListId', 'x'),
  ...test('seriesId', seriesId),
  ...['deleted', 'oneShot'].flatMap(flag),
  ...test('title', 'a', strings),
  ...releaseDate,
  ...test('numberSort', 3, numbers),
  ...[...test('tag', 'a'), ...nulls('tag')],
  ...test('readStatus', 'READ'),
  ...test('mediaStatus', 'READY'),
  ...test('mediaProfile', 'EPUB'),
  ...test('author', { name: 'A', role: null }),
  ...[
    { type: 'GENERATED', selected: true },
    { type: null, selected: null },
    { type: 'USER_UPLOADED' },
  ].flatMap(poster => test('poster', poster)),
]

/** With a member in each node that names its class, before or after the one that counts. */
export function withTypes(node: Json): Json {
  const [[name, value] = []] = Object.entries(node)
  if (name === undefined) return { type: 'Empty' }
  const isGroup = name === 'allOf' || name === 'anyOf'
  const inner = isGroup
    ? (value as Json[]).map(withTypes)
    : { ...(value as Json), type: 'Operator' }
  return isGroup ? { type: 'Group', [name]: inner } : { [name]: inner, type: `${name}Condition` }
}
