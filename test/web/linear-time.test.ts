// Time in which the EPUB reader reads documents and style sheets that were written to stop it: linear in their length.
import { test } from 'tap'
import { withoutScripts } from '../../lib/web/app/epub/content/sanitize.ts'
import { splitImports } from '../../lib/web/app/epub/content/style-sheet.ts'

test('hostile documents and style sheets are read in linear time', async t => {
  // In quadratic time these take hours, in exponential time they do not end.
  const times = 400_000
  const texts = ['<!--', '<script>', '<script ', '</script', '<!-- --> <!--', '<a on', '<base ']
  for (const text of texts) t.ok(withoutScripts(text.repeat(times)).length > 0, text)
  const sheets = ['/* a */ ', '/*', '/* * ', '@layer a; ', '@charset "a" ', '@import ', ' ']
  for (const text of sheets) t.same(splitImports(text.repeat(times)).urls.slice(20), [], text)
})

test('scripts and comments are removed, unclosed ones stay', async t => {
  const source =
    '<p>a<!-- b --><script>c</script><SCRIPT src="d"/>e<script>f</script >g</p><style><!-- h</style><p>i</p>'
  t.equal(withoutScripts(source), '<p>aeg</p><style><!-- h</style><p>i</p>')
})

test('imports of a style sheet', async t => {
  const sheet =
    '\n/* a **/ /* @import "b"; */ <!-- @charset "utf-8"; @import "c"; @layer d; @import url(e) print; @import url("f"); --> p { color: red } @import "g";'
  const { urls, rest } = splitImports(sheet)
  t.same(urls, ['c', 'e', 'f'])
  t.equal(rest, ' --> p { color: red } @import "g";')
  t.same(splitImports('p {}'), { urls: [], rest: 'p {}' })
})
