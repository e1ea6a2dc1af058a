// Tests of the list engine that requests of the native API do not express, only those of other grammars.

export type InnerTest =
  /** One of these words, as they are stored. */
  | { kind: 'words'; words: readonly string[] }
  /** A regular expression over folded text that is safe to run: without repetition. */
  | { kind: 'pattern'; pattern: string }
  /** A word of a search text that this one may be, misspelled. */
  | { kind: 'similar'; word: string; isTitle: boolean }
  /** An author whose name and role are these; null for any. */
  | { kind: 'credit'; operator: 'equals' | 'contains'; name: string | null; role: string | null }
  /** A cover of a book; null for any source, selected or not. */
  | { kind: 'poster'; source: 'generated' | 'uploaded' | null; isSelected: boolean | null }
