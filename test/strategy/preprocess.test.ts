// Title rules.
import t from 'tap'
import { Invalid } from '../../lib/errors.ts'
import { compileRules, validateRules } from '../../lib/strategy/preprocess.ts'
import { casesOf } from './cases.ts'

t.test('rows of the peer: rules replace all matches in order and trim nothing', async t => {
  const rows = casesOf('preprocess')
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

t.test('groups, flags and switched-off rules', async t => {
  t.equal(
    compileRules([{ pattern: '(\\w+)\\s+(\\w+)', replacement: '$2, $1' }])('John Doe'),
    'Doe, John',
  )
  t.equal(
    compileRules([{ pattern: '(?i)\\(digital\\)', replacement: '' }])('One Piece (DIGITAL)'),
    'One Piece ',
  )
  t.equal(compileRules([{ pattern: 'a', replacement: 'b', enabled: false }])('a'), 'a')
  t.equal(compileRules([{ pattern: '[invalid', replacement: '' }])('a'), 'a')
  t.equal(compileRules([{ pattern: 'a', replacement: '$9' }])('a').length < 3, true)
})

t.test('the rule that is wrong is named', async t => {
  const good = { pattern: 'a', replacement: '' }
  t.throws(() => validateRules([good, { pattern: '[', replacement: '' }]), /Rule 1: pattern/)
  t.throws(() => validateRules([{ pattern: 'a' }]), /Rule 0/)
  t.throws(() => validateRules([null]), Invalid)
  t.throws(() => validateRules('a'), Invalid)
  t.same(validateRules([good]), [{ ...good, enabled: true }])
  t.same(validateRules(null), [])
})

t.test('rules that double the title do not fill the memory', async t => {
  const rules = Array.from({ length: 100 }, () => ({ pattern: '^(.*)$', replacement: '$1$1' }))
  t.ok(compileRules(rules)('abc').length <= 4_000)
})
