import t from 'tap'
import { canonicalLanguage } from '../../lib/metadata/language.ts'

t.test('tags are normalized', t => {
  const cases = {
    'fra-be': 'fr-BE',
    'fra-BE': 'fr-BE',
    'zh-HK': 'zh-HK',
    ja_JP: 'ja-JP',
    ' eng ': 'en',
    'ja-jp': 'ja-JP',
    'zh-Hans-CN': 'zh-Hans-CN',
  }
  for (const [tag, canonical] of Object.entries(cases))
    t.equal(canonicalLanguage(tag), canonical, tag)
  t.end()
})

t.test('unregistered languages are rejected', t => {
  for (const tag of ['', 'jp-JP', 'und', 'English', 'en-', '日本語', 'x'.repeat(1000)]) {
    t.equal(canonicalLanguage(tag), null, tag.slice(0, 20))
  }
  t.end()
})
