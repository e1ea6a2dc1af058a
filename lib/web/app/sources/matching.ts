// What is matched with what.

export type Kind = 'series' | 'book'
export type Matching = { libraryId: string; sourceId: string; kind: Kind }
