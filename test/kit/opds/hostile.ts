// Titles and file names that break missing escaping.

/** For `Title` in ComicInfo.xml. */
export const hostileTitles = [
  `Tom & Jerry < 3 > 2 "and" 'so' on`,
  '</title></entry><script>alert(1)</script>',
  '&amp; &#0; &nbsp; ]]> <![CDATA[ <!-- -->',
  '👩‍👩‍👧‍👦 𝒻𝒶𝓂𝒾𝓁𝓎 🏴‍☠️',
  'مرحبا بالعالم – שלום עולם',
  '\u202etfel ot thgir\u202c',
  `${'300 '.repeat(74)}last`,
  'E\u0301tude en nfd, Å and \u212b',
  '進撃の巨人 第1巻',
  '{pageNumber} {maxWidth} {?query} {searchTerms}',
  '100% %41 %zz #hash ?a=1&b=2;c=3 +plus',
  'back\\slash /slash/ ../../etc/passwd',
  `'; drop table book; --`,
]

/** Paths below the root of a library; some are not UTF-8. */
export const hostileNames: (string | Buffer)[] = [
  'Names/100% %41 #1? a;b & c=d + e.cbz',
  `Names/"quoted" 'name' <b>.cbz`,
  'Names/e\u0301tude nfd.cbz',
  'Names/trailing dots... .cbz',
  'Names/ leading space.cbz',
  'Names/مرحبا بالعالم.cbz',
  'Names/👩‍👩‍👧‍👦.cbz',
  'Names/line\nbreak\ttab\r.cbz',
  'Names/{pageNumber} {maxWidth}.cbz',
  'Names/back\\slash.cbz',
  `Names/${'long'.repeat(60)}.cbz`,
  'Names ／ slash ∕ like ⁄ 100%/1.cbz',
  Buffer.concat([Buffer.from('Names/latin '), Buffer.from([0xe9, 0xff]), Buffer.from('.cbz')]),
  'Names/UPPER.CBZ',
]
