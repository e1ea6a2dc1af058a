// Fields of a mapping: which values of a JSON document become a value of a series or release.
import { Invalid } from '../../base/errors.ts'
import { list, maybe, record, type Static, Type, text } from '../../base/schema.ts'
import { compilePattern, matchPattern, type Pattern } from '../../media/strategy/pattern.ts'
import { SourceFailure } from '../failure.ts'
import { compileTemplate, type Template } from '../template/template.ts'
import { compilePath, type JsonPath, maxPathLength } from './json-path.ts'

const Path = text(maxPathLength, {
  minLength: 1,
  description: 'JSON path, such as $.data[0].title',
})

/** A path, or paths of which the first with a value counts, and how the value is converted. */
export const Field = Type.Union([
  Path,
  record(
    {
      path: Type.Union([Path, list(Path, { maxItems: 10 })]),
      every: maybe(
        Type.Boolean({
          description: 'The values of all paths instead of the first path with a value.',
        }),
      ),
      split: maybe(text(20, { minLength: 1, description: 'Divides a text into several values.' })),
      pattern: maybe(
        text(1000, {
          minLength: 1,
          description: 'Regular expression (RE2); the first group is the value.',
        }),
      ),
      map: maybe(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          maxProperties: 200,
          additionalProperties: text(500),
          description: 'Replaces values; unlisted values are skipped.',
        }),
      ),
      template: maybe(
        text(2000, {
          description:
            'Handlebars template for the text; `value` is the value, `item` the whole document.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
])
export type Field = Static<typeof Field>
export const Fields = Type.Unsafe<Record<string, Field>>({
  type: 'object',
  maxProperties: 100,
  additionalProperties: Field,
})

/** Renders values of a service. Throws Invalid; the template throws SourceFailure when it takes too many steps. */
export function sourceTemplate(
  source: string,
  label: string,
  options?: Parameters<typeof compileTemplate>[2],
): Template {
  const render = compileTemplate(source, label, options)
  return context => {
    try {
      return render(context)
    } catch (cause) {
      if (!(cause instanceof Invalid)) throw cause
      throw new SourceFailure(cause.message, 'invalid', { cause })
    }
  }
}

/** All values of a field in a document. */
export type ReadField = (document: unknown) => unknown[]

/** `label` is for error messages. Throws Invalid. */
export function compileField(field: Field, label: string): ReadField {
  const { path, every, split, pattern, map, template } =
    typeof field === 'string' ? { path: field } : withAll(field)
  const paths = [path].flat().map(source => compilePath(source, label))
  const read = every ? allOf : firstOf
  const steps = {
    pattern: pattern === undefined ? null : compilePattern(pattern, `${label}.pattern`),
    map: map ?? null,
    template: template === undefined ? null : sourceTemplate(template, `${label}.template`),
  }
  const partsOf = (value: unknown) =>
    split && typeof value === 'string' ? value.split(split, maxParts) : [value]
  return document =>
    read(paths, document)
      .flatMap(partsOf)
      .flatMap(value => convert(value, document, steps))
}

type FullField = Exclude<Field, string>
const withAll = (field: FullField): FullField => field
const maxParts = 500

const valuesAt = (path: JsonPath, document: unknown) =>
  path(document).filter(value => value !== null && value !== '')

function firstOf(paths: JsonPath[], document: unknown): unknown[] {
  for (const path of paths) {
    const values = valuesAt(path, document)
    if (values.length > 0) return values
  }
  return []
}

const allOf = (paths: JsonPath[], document: unknown): unknown[] =>
  paths.flatMap(path => valuesAt(path, document))

type Steps = {
  pattern: Pattern | null
  map: Record<string, string> | null
  template: Template | null
}

/** At most one value. */
function convert(value: unknown, item: unknown, { pattern, map, template }: Steps): unknown[] {
  let result = value
  // Objects and lists have no text: `{"toString": 1}` would throw.
  if ((pattern || map) && typeof result === 'object') return []
  if (pattern) {
    const match = matchPattern(pattern, String(result))
    if (!match) return []
    result = match.all[1] ?? match.all[0] ?? ''
  }
  if (map) {
    if (!Object.hasOwn(map, String(result))) return []
    result = map[String(result)]
  }
  return template ? [template({ value: result, item })] : [result]
}

/** The readers of named fields. Throws Invalid. */
export function compileFields(
  fields: Record<string, Field> | undefined,
  label: string,
): Map<string, ReadField> {
  return new Map(
    Object.entries(fields ?? {}).map(([name, field]) => [
      name,
      compileField(field, `${label}.${name}`),
    ]),
  )
}
