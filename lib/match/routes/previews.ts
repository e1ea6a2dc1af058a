// Previews for the editors of templates and conditions: the text produced by a template, and the series of a
// library that meet conditions.

import { Forbidden, Invalid } from '../../base/errors.ts'
import { body, component, count, optional, record, Type, text, uuid } from '../../base/schema.ts'
import { bookContext, seriesContext } from '../../catalog/metadata/template-context.ts'
import { paged, pageQuery, pageResponse, paging } from '../../http/pagination.ts'
import { LibraryId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { checkStorable } from '../../media/metadata/user-input.ts'
import { maxTemplateLength } from '../../sources/template/syntax.ts'
import { compileTemplate } from '../../sources/template/template.ts'
import { ConditionsInput, checkConditions } from '../condition.ts'
import { libraryConditions, matchingSeries } from '../matching-series.ts'

const MatchingSeries = component('MatchingSeries', {
  id: uuid(),
  title: Type.String(),
  bookCount: count(),
})
const MatchingSeriesPage = component(
  'MatchingSeriesPage',
  {
    ...paged(MatchingSeries).properties,
    checked: count({ description: 'Number of visible series in the library.' }),
  },
  { hasLinkHeader: true },
)

export const previews = [
  route('POST /templates/preview', {
    operationId: 'previewTemplate',
    permission: 'SeriesRead',
    // Not because of its statements, but because of the event loop time that a template may take.
    cost: () => 'expensive',
    summary: 'Render a template',
    description:
      'Uses the context of a series or a book (which requires BooksRead), or an example. The syntax is Handlebars without partials and decorators; values are not escaped, missing values are empty, and the output is cut off after 10,000 characters. 400 if the template is invalid or takes too many steps.',
    body: body('TemplatePreviewRequest', {
      template: text(maxTemplateLength),
      seriesId: optional(uuid()),
      bookId: optional(uuid()),
      context: optional(
        Type.Unsafe<object>({ type: 'object', description: 'An example context.' }),
      ),
    }),
    responses: { 200: component('TemplatePreview', { output: Type.String() }) },
    async handle({ body: { template, seriesId, bookId, context }, viewer, identity }, { sql }) {
      if ([seriesId, bookId, context].filter(Boolean).length > 1)
        throw new Invalid('Only one of seriesId, bookId and context is allowed')
      if (bookId && !identity.permissions.has('BooksRead'))
        throw new Forbidden('Missing required permission: BooksRead')
      checkStorable(context)
      const render = compileTemplate(template, 'template')
      if (seriesId) return { output: render(await seriesContext(sql, viewer, seriesId)) }
      if (bookId) return { output: render(await bookContext(sql, viewer, bookId)) }
      return { output: render(context ?? {}) }
    },
  }),
  route('POST /libraries/{id}/auto-match/preview', {
    operationId: 'previewAutoMatch',
    permission: 'SeriesRead',
    cost: () => 'expensive',
    summary: 'List the series that meet auto-match conditions',
    description:
      'Uses the conditions in the request, otherwise those of the library. Without conditions all series match. A series for which they take too many steps does not match; 400 if they take too many for the whole library.',
    params: LibraryId,
    query: record(pageQuery),
    body: body('AutoMatchPreviewRequest', { conditions: optional(ConditionsInput) }),
    bodyOptional: true,
    responses: { 200: MatchingSeriesPage },
    async handle({ params: { id }, query, body, viewer, request, reply }, { sql }) {
      const stored = await libraryConditions(sql, viewer, id)
      const conditions = body?.conditions ? checkConditions(body.conditions, 'conditions') : stored
      const page = paging(query)
      const { checked, ...found } = await matchingSeries(sql, viewer, {
        ...{ libraryId: id, conditions },
        ...{ offset: page.offset, pageSize: page.pageSize },
      })
      return { ...pageResponse({ request, reply, query }, { ...found, paging: page }), checked }
    },
  }),
]
