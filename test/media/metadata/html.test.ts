import t from 'tap'
import { descriptionText, htmlToMultiLine, htmlToText } from '../../../lib/media/metadata/html.ts'
import { parseXml } from '../../../lib/media/metadata/xml.ts'
import { cpuMs } from '../../kit/suite/cpu-time.ts'

t.test('block elements become lines', t => {
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
    ['<a href="x>y">link</a><img src="z"/> <o:p></o:p>end', 'link end'],
    ['<h1>Title</h1>Text', 'Title\n\nText'],
    ['', ''],
  ]
  for (const [html, text] of cases) t.equal(htmlToText(html), text, html)
  t.end()
})

t.test('comments, scripts and styles are removed', t => {
  const cases: [html: string, text: string][] = [
    ['a<!-- b -- > -->c', 'ac'],
    ['<script>alert("<p>")</script>x<STYLE type="text/css">p {}</STYLE >', 'x'],
    ['<!DOCTYPE html><html><head><title>t</title></head><body><p>x</p></body></html>', 'x'],
    ['a <!-- b', 'a <!-- b'],
    ['put it into a <script> there', 'put it into a <script> there'],
  ]
  for (const [html, text] of cases) t.equal(htmlToText(html), text, html)
  t.end()
})

t.test('plain text is not changed', t => {
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
    t.equal(htmlToText(text), text)
  t.end()
})

t.test('character references are decoded once', t => {
  t.equal(
    htmlToText('&amp;lt; &#233; &#x1F600; &#0; &#xD800; &bogus; &nbsp;x'),
    '&lt; é 😀 \ufffd \ufffd &bogus;  x',
  )
  t.equal(htmlToText('&lt;b&gt;'), '<b>', 'the result is text')
  t.equal(htmlToText('It&#146;s &#x97;'), 'It’s —', 'control codes are Windows-1252')
  t.equal(htmlToText('a?b=1&copy=2 &yuml;'), 'a?b=1&copy=2 ÿ', 'only with a semicolon')
  t.end()
})

t.test('a description may contain escaped HTML or elements', t => {
  const textOf = (xml: string) => descriptionText(parseXml(Buffer.from(xml)).root ?? undefined)
  t.equal(textOf('<d>&lt;p&gt;A &amp;amp; B&lt;/p&gt;&lt;p&gt;C&lt;/p&gt;</d>'), 'A & B\n\nC')
  t.equal(textOf('<d><![CDATA[<p>A &amp; B</p>C]]></d>'), 'A & B\n\nC')
  t.equal(textOf('<d><x:p>A &amp; B</x:p><x:p>&lt;C&gt; <b>D</b></x:p></d>'), 'A & B\n\n<C> D')
  t.equal(textOf('<d>A<br/>B</d>'), 'A\nB')
  t.equal(textOf('<d>A<series>B</series></d>'), 'A', 'an element that was not closed')
  t.equal(textOf('<d> <p> </p> </d>'), undefined)
  t.end()
})

t.test('hostile text takes linear time', t => {
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
    const started = cpuMs()
    const text = htmlToMultiLine(part.repeat(many / part.length)) ?? ''
    t.ok(text.length <= 65_536)
    t.ok(cpuMs() - started < 1000, part)
  }
  t.end()
})
