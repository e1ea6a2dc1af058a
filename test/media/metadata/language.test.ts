import t from 'tap'
import { canonicalLanguage } from '../../../lib/media/metadata/language.ts'

t.test('tags are normalized', t => {
  const cases = {
    'fra-be': 'fr-BE',
    'fra-BE': 'fr-BE',
    'zh-HK': 'zh-HK',
    ja_JP: 'ja-JP',
    ' eng ': 'en',
    'ja-jp': 'ja-JP',
    'zh-Hans-CN': 'zh-Hans-CN',
    'en-': 'en',
    ger: 'de',
    cze: 'cs',
    iw: 'he',
  }
  for (const [tag, canonical] of Object.entries(cases))
    t.equal(canonicalLanguage(tag), canonical, tag)
  t.end()
})

t.test('codes of countries and other wrong codes are understood', t => {
  const cases = {
    jp: 'ja',
    JP: 'ja',
    'jp-JP': 'ja-JP',
    cn: 'zh',
    kr: 'ko',
    cz: 'cs',
    dk: 'da',
    gr: 'el',
    ua: 'uk',
    us: 'en',
    gb: 'en-GB',
    vn: 'vi',
    mx: 'es-MX',
    at: 'de-AT',
    jap: 'ja',
    esp: 'es',
    chs: 'zh-Hans',
    ptb: 'pt-BR',
    // These are languages themselves.
    br: 'br',
    se: 'se',
    uk: 'uk',
  }
  for (const [tag, canonical] of Object.entries(cases))
    t.equal(canonicalLanguage(tag), canonical, tag)
  t.end()
})

t.test('every language is known by its name in several languages', t => {
  const codes = [
    'en',
    'ja',
    'ko',
    'zh',
    'fr',
    'de',
    'es',
    'it',
    'pt',
    'ru',
    'pl',
    'nl',
    'sv',
    'fi',
    'cs',
    'tr',
  ]
  for (const naming of ['en', 'de', 'fr', 'es', 'ja']) {
    const names = new Intl.DisplayNames([naming], { type: 'language' })
    for (const code of codes) {
      const name = names.of(code)!
      t.equal(canonicalLanguage(name), code, name)
      t.equal(canonicalLanguage(`${name.toUpperCase()} (x)`), code)
    }
  }
  for (const code of codes) {
    const name = new Intl.DisplayNames([code], { type: 'language' }).of(code)!
    t.equal(canonicalLanguage(name), code, name)
  }
  t.end()
})

t.test('what is no language is rejected', t => {
  for (const tag of ['', 'und', 'xx', 'zz', '--', 'unknown', '12', 'x'.repeat(1000)]) {
    t.equal(canonicalLanguage(tag), null, tag.slice(0, 20))
  }
  t.end()
})
