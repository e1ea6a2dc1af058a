// Lists of words with their literal types.
type Words<
  Text extends string,
  Before extends string[] = [],
> = Text extends `${infer First} ${infer Rest}`
  ? Words<Rest, [...Before, First]>
  : [...Before, Text]

/** The words of a text, which single spaces separate. */
export const words = <const Text extends string>(text: Text): Words<Text> =>
  text.split(' ') as Words<Text>

/** From each of the words of a table, separated by commas, to its key. */
export const byWord = (table: Record<string, string>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(table).flatMap(([key, words]) => words.split(', ').map(word => [word, key])),
  )
