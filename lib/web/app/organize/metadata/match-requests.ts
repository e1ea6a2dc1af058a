// Requests about metadata of a series or book on sources.
import { api, body, type Schemas } from '../../api/client.ts'

export type MatchOwner = 'books' | 'series'
export type MatchSubject = { owner: MatchOwner; id: string }
export type Comparison = Schemas['MetadataComparison']
export type FieldName = Comparison['fields'][number]['field']
export type Hit =
  | Schemas['MetadataSearchResults']['results'][number]
  | Schemas['BookMetadataSearchResults']['results'][number]
/** What is searched for; empty for what the server takes from the series or book. */
export type Terms = { title: string; author: string; isbn: string }

const params = ({ id }: MatchSubject) => ({ params: { path: { id } } })

export async function search(
  subject: MatchSubject,
  sourceId: string,
  terms: Terms,
): Promise<Hit[]> {
  const { title, author, isbn } = terms
  const { results } =
    subject.owner === 'series'
      ? await body(
          api.POST('/api/v1/series/{id}/metadata/search', {
            ...params(subject),
            body: { sourceId, query: title.trim() || null },
          }),
        )
      : await body(
          api.POST('/api/v1/books/{id}/metadata/search', {
            ...params(subject),
            body: { sourceId, title: title || null, author: author || null, isbn: isbn || null },
          }),
        )
  return results
}

type Match = { sourceId: string; externalId: string }

export const compare = (subject: MatchSubject, match: Match): Promise<Comparison> =>
  body(
    api.POST(`/api/v1/${subject.owner}/{id}/metadata/preview`, {
      ...params(subject),
      body: match,
    }),
  )

export const apply = (subject: MatchSubject, match: Match & { fields: FieldName[] }) =>
  body(
    api.POST(`/api/v1/${subject.owner}/{id}/metadata/apply`, { ...params(subject), body: match }),
  )

export const undo = (subject: MatchSubject, sourceId: string) =>
  body(
    api.POST(`/api/v1/${subject.owner}/{id}/metadata/undo`, {
      ...params(subject),
      body: { sourceId },
    }),
  )
