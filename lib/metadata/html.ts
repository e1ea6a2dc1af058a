// HTML as it turns up inside metadata: named entities, and descriptions to plain text.

// The Latin-1 names in code order from U+00A0.
const latin1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn ' +
  'sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave ' +
  'Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ' +
  'ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN ' +
  'szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute ' +
  'icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml ' +
  'yacute thorn yuml'

export const htmlEntities: ReadonlyMap<string, string> = new Map([
  ...latin1.split(' ').map((name, i): [string, string] => [name, String.fromCharCode(0xa0 + i)]),
  ...Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    OElig: 'Œ',
    oelig: 'œ',
    Scaron: 'Š',
    scaron: 'š',
    Yuml: 'Ÿ',
    ensp: '\u2002',
    emsp: '\u2003',
    thinsp: '\u2009',
    zwnj: '\u200c',
    zwj: '\u200d',
    ndash: '–',
    mdash: '—',
    lsquo: '‘',
    rsquo: '’',
    sbquo: '‚',
    ldquo: '“',
    rdquo: '”',
    bdquo: '„',
    dagger: '†',
    bull: '•',
    hellip: '…',
    prime: '′',
    lsaquo: '‹',
    rsaquo: '›',
    euro: '€',
    trade: '™',
    larr: '←',
    rarr: '→',
    minus: '−',
    infin: '∞',
    hearts: '♥',
  }),
])

const blocks = /<\/?(?:p|div|ul|ol|li|h[1-6]|tr|table|blockquote|section|br|hr)\b[^<>]*>/i

/** Text of an HTML fragment or of plain text: blocks become lines, other tags vanish, entities are decoded. Linear in its input. */
export function plainText(html: string): string {
  // In HTML a line break is a space; in plain text one before an indent comes from a printed XML file.
  const flowing = blocks.test(html) ? html.replace(/\s+/g, ' ') : html.replace(/\r?\n[ \t]+/g, ' ')
  return decodeEntities(
    flowing
      .replace(/<!--|-->/g, '')
      .replace(/<(?:br|hr)\b[^<>]*>/gi, '\n')
      .replace(/<li\b[^<>]*>/gi, '\n• ')
      .replace(new RegExp(blocks, 'gi'), '\n')
      .replace(/<\/?[a-z][^<>]*>/gi, ''),
  )
    .replaceAll('\u00a0', ' ')
    .split('\n')
    .map(line => line.trim())
    .join('\n')
    .replace(/\n{2,}/g, '\n\n')
    .trim()
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,8}));/gi,
    (all, dec, hex, name) => {
      if (name !== undefined) return htmlEntities.get(name) ?? all
      const code = dec === undefined ? Number.parseInt(hex, 16) : Number(dec)
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
        ? String.fromCodePoint(code)
        : ''
    },
  )
}
