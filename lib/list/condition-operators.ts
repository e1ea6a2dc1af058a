// Operators of filter conditions, as tests of text, words and bounds.

/** On a word such as a read status, and a text in lower case. */
export const wordComparisons = {
  contains: (word: string, text: string) => word.includes(text),
  doesNotContain: (word: string, text: string) => !word.includes(text),
  beginsWith: (word: string, text: string) => word.startsWith(text),
  endsWith: (word: string, text: string) => word.endsWith(text),
}

export const textOperators = {
  is: 'equals',
  isNot: 'equals',
  contains: 'contains',
  doesNotContain: 'contains',
  beginsWith: 'beginsWith',
  endsWith: 'endsWith',
} as const

export const comparisons = {
  eq: '=',
  ne: '=',
  is: '=',
  isNot: '=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  after: '>',
  onOrAfter: '>=',
  before: '<',
  onOrBefore: '<=',
} as const
