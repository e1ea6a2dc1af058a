import t from 'tap'
import { htmlEntities, plainText } from '../../lib/metadata/html.ts'

t.test('markup becomes lines of text', t => {
  t.equal(
    plainText('<div>\n<p>One\n two &amp; <i>three</i></p><p>four<br/>five</p></div>'),
    'One two & three\n\nfour\nfive',
  )
  t.equal(plainText('<ul><li>a</li><li>b</li></ul>'), '• a\n\n• b')
  t.equal(plainText('<!-- x --><script>alert(1)</script>'), 'x alert(1)')
  t.end()
})

t.test('plain text keeps its lines but not those of a printed file', t => {
  t.equal(plainText('One\ntwo\n    three'), 'One\ntwo three')
  t.equal(plainText('1 < 2 and 3 > 2'), '1 < 2 and 3 > 2')
  t.end()
})

t.test('entities are decoded once', t => {
  t.equal(
    plainText('&amp;lt; &#233; &#x1F600; &#0; &#xD800; &bogus; &nbsp;x'),
    '&lt; é 😀   &bogus;  x',
  )
  t.equal(htmlEntities.get('yuml'), 'ÿ')
  t.end()
})
