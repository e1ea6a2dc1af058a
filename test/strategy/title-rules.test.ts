// Title rules.
import t from 'tap'
import { Invalid } from '../../lib/errors.ts'
import { compileRules, validateRules } from '../../lib/strategy/title-rules.ts'
import { sharedCases } from './cases.ts'

t.test('shared rows of title rules', async t => {
  const rows = sharedCases('preprocess')
  for (const { strategy, filename, title } of rows) {
    const rules = strategy
      .slice('preprocess:'.length)
      .split('; ')
      .map(rule => {
        if (rule === 'trim') return { pattern: '^\\s+|\\s+$', replacement: '' }
        const [pattern = '', replacement = ''] = rule.split(' -> ')
        return { pattern, replacement: replacement.replace(/^'|'$/g, '') }
      })
    t.equal(compileRules(rules)(filename).trim(), title, strategy)
  }
})

t.test('rules replace all matches in order, with groups and flags', async t => {
  t.equal(
    compileRules([{ pattern: '(\\w+)\\s+(\\w+)', replacement: '$2, $1' }])('John Doe'),
    'Doe, John',
  )
  t.equal(
    compileRules([{ pattern: '(?i)\\(digital\\)', replacement: '' }])('One Piece (DIGITAL)'),
    'One Piece ',
  )
  const rules = [
    { pattern: '\\[[^\\]]+\\]', replacement: '' },
    { pattern: '\\s+', replacement: ' ' },
    { pattern: '_', replacement: '-' },
  ]
  t.equal(compileRules(rules)('[A] Harbor   Lights_1_2 [B]'), ' Harbor Lights-1-2 ', 'not trimmed')
  t.equal(compileRules([{ pattern: 'a', replacement: 'b', enabled: false }])('a'), 'a')
  t.equal(compileRules([{ pattern: '[invalid', replacement: '' }])('a'), 'a')
  t.equal(compileRules([{ pattern: 'a', replacement: '$9' }])('a').length < 3, true)
})

t.test('an invalid rule is reported with its index', async t => {
  const good = { pattern: 'a', replacement: '' }
  t.throws(() => validateRules([good, { pattern: '[', replacement: '' }]), /Rule 1: pattern/)
  t.throws(() => validateRules([{ pattern: 'a' }]), /Rule 0/)
  t.throws(() => validateRules([null]), Invalid)
  t.throws(() => validateRules('a'), Invalid)
  t.same(validateRules([good]), [{ ...good, enabled: true }])
  t.same(validateRules(null), [])
})

t.test('rules that double the title do not exhaust memory', async t => {
  const rules = Array.from({ length: 100 }, () => ({ pattern: '^(.*)$', replacement: '$1$1' }))
  t.ok(compileRules(rules)('abc').length <= 4_000)
})
