import t from 'tap'
import { decodeEntities, htmlEntities } from '../../lib/metadata/entities.ts'
import { descriptionOf, plainProse, plainText } from '../../lib/metadata/html.ts'
import { parseXml } from '../../lib/metadata/xml.ts'

t.test('markup becomes lines of text', t => {
  const cases: [html: string, text: string][] = [
    ['Ein <b>Junge</b> &amp; sein Buch.', 'Ein Junge & sein Buch.'],
    [
      '<div>\n<p>One\n two &amp; <i>three</i></p><p>four<br/>five</p></div>',
      'One two & three\n\nfour\nfive',
    ],
    ['<P CLASS="a">One</P>\r\n<P>Two', 'One\n\nTwo'],
    ['<div>One</div><div>Two</div>', 'One\nTwo'],
    ['One<br><br><br><br>Two', 'One\n\nTwo'],
    ['<p>One</p><p>&nbsp;</p><p>Two</p>', 'One\n\nTwo'],
    [
      'With:<ul>\n<li>a</li>\n<li><p>b</p></li>\n<li> </li></ul><p>End</p>',
      'With:\n- a\n\n- b\n\nEnd',
    ],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
    ['Bold<b>ly</b> <i>go</i>\nand\n  on', 'Boldly go\nand\n  on'],
    ['<a href="x>y">link</a><img src="z"/> <o:p></o:p>end', 'y">link end'],
    ['<h1>Title</h1>Text', 'Title\n\nText'],
    ['', ''],
  ]
  for (const [html, text] of cases) t.equal(plainText(html), text, html)
  t.end()
})

t.test('what is for browsers is not shown', t => {
  const cases: [html: string, text: string][] = [
    ['a<!-- b -- > -->c', 'ac'],
    ['<script>alert("<p>")</script>x<STYLE type="text/css">p {}</STYLE >', 'x'],
    ['<!DOCTYPE html><html><head><title>t</title></head><body><p>x</p></body></html>', 'x'],
    ['a <!-- b', 'a <!-- b'],
    ['put it into a <script> there', 'put it into a <script> there'],
  ]
  for (const [html, text] of cases) t.equal(plainText(html), text, html)
  t.end()
})

t.test('text stays as it is', t => {
  for (const text of [
    'a < b and c > d',
    'I <3 you',
    'by <unknown>',
    'List<String> of <T>',
    'if a <b and c> d',
    'One\ntwo\n    three\n\n\n\nfour',
    'mail <ana@example.org>',
    '<',
    '</',
    '<b',
    'AT&T & co; R&D;',
  ])
    t.equal(plainText(text), text)
  t.end()
})

t.test('entities are decoded once', t => {
  t.equal(
    plainText('&amp;lt; &#233; &#x1F600; &#0; &#xD800; &bogus; &nbsp;x'),
    '&lt; é 😀   &bogus;  x',
  )
  t.equal(plainText('&lt;b&gt;'), '<b>', 'and what comes of it is text')
  t.equal(decodeEntities('It&#146;s &#x97;'), 'It’s —', 'as Windows meant it')
  t.equal(htmlEntities.get('yuml'), 'ÿ')
  t.end()
})

t.test('a description may be escaped, elements, or both of another document', t => {
  const said = (xml: string) => descriptionOf(parseXml(Buffer.from(xml)).root ?? undefined)
  t.equal(said('<d>&lt;p&gt;A &amp;amp; B&lt;/p&gt;&lt;p&gt;C&lt;/p&gt;</d>'), 'A & B\n\nC')
  t.equal(said('<d><![CDATA[<p>A &amp; B</p>C]]></d>'), 'A & B\n\nC')
  t.equal(said('<d><x:p>A &amp; B</x:p><x:p>&lt;C&gt; <b>D</b></x:p></d>'), 'A & B\n\n<C> D')
  t.equal(said('<d>A<br/>B</d>'), 'A\nB')
  t.equal(said('<d>A<series>B</series></d>'), 'A', 'it was not closed')
  t.equal(said('<d> <p> </p> </d>'), undefined)
  t.end()
})

t.test('hostile text costs no more than its length', t => {
  const many = 2_000_000
  for (const part of [
    '<',
    '<b',
    '<b ',
    '<b =',
    '<!--',
    '<script>',
    '<style ',
    '</',
    '<li>',
    '<br>',
    '&#',
    '&a',
    ' ',
    '\n',
    '<p>\n ',
  ]) {
    const started = performance.now()
    const text = plainProse(part.repeat(many / part.length)) ?? ''
    t.ok(text.length <= 65_536)
    t.ok(performance.now() - started < 1000, part)
  }
  t.end()
})
