// Templates: syntax, helpers, limits, and comparison with Handlebars.
import Handlebars from 'handlebars'
import t from 'tap'
import { Invalid } from '../../../lib/base/errors.ts'
import { compileTemplate } from '../../../lib/sources/template/template.ts'
import { cpuMs } from '../../kit/cpu-time.ts'
import { createRandom } from '../../kit/random.ts'
import { arbitraryTemplate, randomTemplate, randomValue } from './random.ts'
import { worstContext, worstTemplates } from './worst.ts'

const context = {
  type: 'series',
  bookCount: 12,
  metadata: {
    title: 'Fullmetal Alchemist: Brotherhood',
    genres: ['Action', 'Drama'],
    year: 2001,
    summary: null,
    authors: [{ name: 'Arakawa' }, { name: 'Irie' }],
    titleLock: false,
  },
  externalIds: { 'plugin:mangabaka': { id: '42', url: null } },
  customMetadata: { 'my key': 'value', nested: { list: [1, 2] }, html: '<b>&</b>' },
}
const render = (template: string, value: unknown = context) =>
  compileTemplate(template, 'template')(value)

t.test('values, blocks and helpers', async t => {
  const cases: [template: string, output: string][] = [
    ['{{metadata.title}} {{missing}}{{metadata.summary}}|', 'Fullmetal Alchemist: Brotherhood |'],
    ['{{customMetadata.html}}{{{customMetadata.html}}}', '<b>&</b><b>&</b>'],
    ['{{externalIds.plugin:mangabaka.id}} {{externalIds.[plugin:mangabaka].id}}', '42 42'],
    ['{{customMetadata.[my key]}} {{customMetadata.nested.list.[1]}}', 'value 2'],
    [
      '{{metadata.genres}} {{metadata.titleLock}} {{metadata.genres.length}}',
      'Action,Drama false 2',
    ],
    ['{{lowercase metadata.title}}', 'fullmetal alchemist: brotherhood'],
    ['{{uppercase "straße"}} {{capitalize "éCOLE x"}}', 'STRASSE École x'],
    ['[{{trim "  a b "}}]', '[a b]'],
    [
      '{{truncate metadata.title 9}} {{truncate "ab" 2 "…"}} {{truncate "𝒜𝒜𝒜" 2 "…"}}',
      'Fullmetal... ab 𝒜𝒜…',
    ],
    [
      '{{replace metadata.title ":" ""}} {{replace "a.b.c" "." "-"}} {{replace "a" "" "x"}}',
      'Fullmetal Alchemist Brotherhood a-b-c a',
    ],
    [
      '{{split metadata.title}} {{split "a/b/c" "/" index=1}} {{split "a/b/c" "/" index=-1}}{{split "a" "/" index=4}}',
      'Fullmetal b c',
    ],
    [
      '{{join metadata.genres}} {{join metadata.genres " + "}} {{join "text"}}',
      'Action, Drama Action + Drama text',
    ],
    [
      '{{default metadata.summary "none"}} {{default metadata.year 1}} {{default bookCount "x"}}',
      'none 2001 12',
    ],
    ['{{urlencode "a b&c/ü"}}', 'a%20b%26c%2F%C3%BC'],
    [
      '{{length metadata.genres}} {{length "𝒜b"}} {{length missing}} {{length customMetadata}}',
      '2 2 0 3',
    ],
    ['{{padStart bookCount 4}} {{padStart 7 2 "0"}} {{padStart "abc" 2}}', '0012 07 abc'],
    [
      '{{lookup metadata "year"}} {{lookup metadata.genres 1}} {{lookup metadata "constructor"}}',
      '2001 Drama ',
    ],
    [
      '{{math bookCount "+" 1}} {{math "7" "%" 4}} {{math 0.1 "+" 0.2}} {{math 1 "/" 0}}|{{math "x" "*" 2}}|',
      '13 3 0.3 ||',
    ],
    ['{{#exists metadata.summary}}yes{{else}}no{{/exists}}', 'no'],
    ['{{#exists metadata.titleLock}}yes{{else}}no{{/exists}}', 'yes'],
    [
      '{{#ifEquals type "series"}}s{{/ifEquals}}{{#ifNotEquals bookCount "12"}}n{{else}}e{{/ifNotEquals}}',
      'se',
    ],
    [
      '{{#gt bookCount 10}}many{{else}}few{{/gt}} {{#lt metadata.year 1990}}old{{else}}new{{/lt}}',
      'many new',
    ],
    ['{{#and type bookCount}}a{{/and}}{{#or missing metadata.summary}}o{{else}}-{{/or}}', 'a-'],
    [
      '{{#includes metadata.genres "Drama"}}d{{/includes}}{{#includes metadata.genres "Dra"}}x{{/includes}}{{#includes metadata.title "metal"}}m{{/includes}}',
      'dm',
    ],
    ['{{#if (and (gt bookCount 1) (includes metadata.genres "Action"))}}both{{/if}}', 'both'],
    [
      '{{#each metadata.authors}}{{@index}}:{{name}}{{#unless @last}}, {{/unless}}{{/each}}',
      '0:Arakawa, 1:Irie',
    ],
    [
      '{{#each metadata.authors as |author i|}}{{i}}{{author.name}}{{../type}}{{/each}}',
      '0Arakawaseries1Irieseries',
    ],
    ['{{#each missing}}x{{else}}nothing{{/each}}', 'nothing'],
    ['{{#if missing}}a{{^}}b{{/if}}'.repeat(60), 'b'.repeat(60)],
    ['{{#each customMetadata.nested}}{{@key}}={{this}}{{@root.bookCount}}{{/each}}', 'list=1,212'],
    [
      '{{#with metadata}}{{title}} {{@root.type}}{{/with}}',
      'Fullmetal Alchemist: Brotherhood series',
    ],
    ['{{#if missing}}a{{else if bookCount}}b{{else}}c{{/if}}{{^if missing}}d{{/if}}', 'bd'],
    ['{{constructor}}{{__proto__}}{{metadata.genres.push}}{{toString}}', ''],
  ]
  for (const [template, output] of cases) t.equal(render(template), output, template)
})

t.test('values that a template inserts are escaped for a URL', async t => {
  const url = compileTemplate('https://example.com/{{a}}?q={{urlencode a}}&{{{a}}}', 'url', {
    escapeText: encodeURIComponent,
  })
  t.equal(url({ a: '../x y' }), 'https://example.com/..%2Fx%20y?q=..%2Fx%20y&../x y')
})

t.test('templates that are invalid name the reason', async t => {
  const cases: [template: string, message: RegExp][] = [
    ['{{#if a}}', /not a valid template: Parse error on line 1/],
    ['\n{{> partial}}', /partial or a decorator \(line 2\)/],
    ['{{#> layout}}{{/layout}}', /partial or a decorator/],
    ['{{* decorator}}', /partial or a decorator/],
    ['{{#*inline "x"}}{{/inline}}', /partial or a decorator/],
    ['{{unknown a}}', /unknown helper "unknown"/],
    ['{{a (unknown b)}}', /unknown helper "a"/],
    ['{{trim (unknown b)}}', /unknown helper "unknown"/],
    ['{{#unknown}}{{/unknown}}', /unknown block helper "unknown"/],
    ['{{#if a}}{{unknown a}}{{/if}}', /unknown helper "unknown"/],
    ['{{#if a}}{{else}}{{#each b}}{{unknown a}}{{/each}}{{/if}}', /unknown helper "unknown"/],
    ['{{#if (unknown a)}}{{/if}}', /unknown helper "unknown"/],
    ['{{split a index=(unknown a)}}', /unknown helper "unknown"/],
    ['{{{{raw}}}}{{{{/raw}}}}', /unknown block helper "raw"/],
    ['{{constructor a}}', /unknown helper "constructor"/],
    ['{{#if a}}'.repeat(60) + '{{/if}}'.repeat(60), /nested too deeply/],
    [`{{trim ${'(trim '.repeat(60)}a${')'.repeat(60)}}}`, /nested too deeply/],
    ['a'.repeat(4001), /longer than 4000/],
  ]
  for (const [template, message] of cases)
    t.throws(() => compileTemplate(template, 'template'), { message }, template.slice(0, 40))
  t.throws(() => render('{{math 1 "constructor" 2}}'), Invalid)
})

t.test('output and work are limited', async t => {
  const list = Array.from({ length: 500 }, (_, i) => `item ${i}`)
  const text = 'x'.repeat(60_000)
  t.equal(render('{{text}}', { text }).length, 10_000)
  t.equal(
    render('{{#each list}}{{this}}{{/each}}', { list: [...list, ...list, ...list] }).length,
    10_000,
  )
  t.equal(render('{{replace text "x" text}}', { text }).length, 10_000)
  t.equal(render('{{padStart "x" 1000000000}}', {}).length, 10_000)
  t.equal(render('{{length (join list text)}}', { list, text }), '10000')
  const nested = '{{#each list}}{{#each ../list}}{{#if a}}{{/if}}{{/each}}{{/each}}'
  t.throws(() => render(nested, { list }), { message: /too many steps/ })
  const costly = `{{#each list}}${'{{length (lowercase ../text)}}'.repeat(100)}{{/each}}`
  t.throws(() => render(costly, { list, text }), { message: /too many steps/ })
})

t.test('no helper, block or path takes long with any values', async t => {
  for (const [name, templates] of worstTemplates) {
    const slow = templates.filter(
      template =>
        cpuMs(() => {
          try {
            render(template, worstContext)
          } catch (error) {
            if (!(error instanceof Invalid)) throw error
          }
        }) > 150,
    )
    t.same(slow, [], name)
  }
})

t.test('templates are parsed fast or refused', async t => {
  const repeated = ['{{#if a}}', '{{^if a}}', '{{a b}}', '\\\\{{a}}', '{{#if a}}{{/if}}', '{{{a}}}']
  const templates = [
    ...repeated.map(piece => piece.repeat(4_000 / piece.length)),
    `{{and ${'a '.repeat(1_990)}}}`,
    '{{#if a}}'.repeat(48) + '{{a b}}'.repeat(400) + '{{/if}}'.repeat(48),
  ]
  for (const template of templates) {
    const parse = () => {
      try {
        compileTemplate(template, 'template')
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
      }
    }
    t.ok(cpuMs(parse) < 150, template.slice(0, 20))
  }
})

t.test('templates render as by Handlebars', async t => {
  const random = createRandom(15).next
  let compared = 0
  for (let i = 0; i < 1_000; i++) {
    const template = randomTemplate(random)
    const value = {
      a: randomValue(random),
      list: randomValue(random),
      deep: randomValue(random),
      text: 'T',
      zero: 0,
    }
    const html = Handlebars.compile(template)(value, { data: {} })
    const expected = html.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&')
    const actual = render(template, value)
    compared += 1
    if (actual !== expected) t.equal(actual, expected, `${template} ${JSON.stringify(value)}`)
  }
  t.equal(compared, 1_000)
})

t.test('arbitrary texts render or are invalid', async t => {
  const random = createRandom(7).next
  const failures: string[] = []
  for (let i = 0; i < 1_000; i++) {
    const template = arbitraryTemplate(random)
    try {
      const output = render(template)
      if (output.length > 10_000) failures.push(template)
    } catch (error) {
      if (!(error instanceof Invalid)) failures.push(`${template}: ${error}`)
    }
  }
  t.same(failures, [])
})
