// Configuration of a feed source: address, and how its items become releases.
import { Invalid } from '../../base/errors.ts'
import { list, maybe, type Static, strict, Type, text } from '../../base/schema.ts'
import { canonicalLanguage } from '../../media/metadata/language.ts'
import { checkPatterns, compilePattern } from '../../media/strategy/pattern.ts'
import { checkHeaders, checkUrl } from '../http/headers.ts'
import type { SourceRow } from '../source-type.ts'

const pattern = (description: string) => text(1000, { minLength: 1, description })
const patterns = (description: string) =>
  maybe(list(text(1000, { minLength: 1 }), { maxItems: 50, description }))

export const FeedConfig = strict({
  url: Type.String({
    maxLength: 4000,
    pattern: '^https?://[^\\s/?#]',
    description: 'Address of an RSS, Atom or JSON feed.',
  }),
  language: maybe(
    text(50, { minLength: 1, description: 'Language of items that do not state one (BCP 47).' }),
  ),
  group: maybe(text(300, { minLength: 1, description: 'Group or uploader of all items.' })),
  seriesTitle: maybe(
    text(500, {
      minLength: 1,
      description: 'Series title of all items, for a feed about one series.',
    }),
  ),
  titlePattern: maybe(
    pattern(
      'Regular expression (RE2) whose first group, or group named `title`, is the part of the title to use; a group named `group` gives the release group. Items that do not match are skipped.',
    ),
  ),
  include: patterns('Keeps only items whose title matches one of these regular expressions.'),
  exclude: patterns('Skips items whose title matches one of these regular expressions.'),
})
export type FeedConfig = Static<typeof FeedConfig>

type Checked = Pick<SourceRow<FeedConfig>, 'config' | 'credentials'>

/** Throws Invalid. */
export function checkFeed({ config, credentials }: Checked): void {
  const { language, titlePattern, include, exclude } = config
  checkHeaders(credentials)
  checkUrl(config.url, 'config.url')
  if (language !== undefined && canonicalLanguage(language) === null)
    throw new Invalid('config.language is not a language tag')
  if (titlePattern !== undefined) compilePattern(titlePattern, 'config.titlePattern')
  checkPatterns(include ?? [], i => `config.include.${i}`)
  checkPatterns(exclude ?? [], i => `config.exclude.${i}`)
}
