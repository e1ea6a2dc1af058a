// Title rules.
import t from 'tap'
import { Invalid } from '../../../lib/base/errors.ts'
import { compilePattern } from '../../../lib/media/strategy/pattern.ts'
import { compileRules, validateRules } from '../../../lib/media/strategy/title-rules.ts'
import { cpuMs } from '../../kit/cpu-time.ts'
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
  t.ok(compileRules(rules)('abc').length <= 500)
})

t.test('the work on a title is bounded for any rules', async t => {
  const rule = (pattern: string, replacement = '') => ({ pattern, replacement, enabled: true })
  const patterns = [
    '(?:(?:a?b?c?){40}){24}[y-z]',
    '(?:a?b?c?){40}[y-z]',
    '(?:a?b?c?){90}[y-z]|a',
    '(?:a{1000}){1000}',
    `(?:${'a?'.repeat(480)}){1000}`,
    'a{1000}'.repeat(140),
    '[a-z]{500}|[{}]{9}\\pL{9}',
    '.*x|a',
  ]
  let used = 0
  for (const pattern of patterns)
    for (const count of [1, 5, 100]) {
      const rules = Array.from({ length: count }, () => rule(pattern))
      const size = () => count * compilePattern(pattern, 'pattern').programSize()
      try {
        validateRules(rules)
        t.ok(size() <= 2_000, pattern)
        used++
      } catch (error) {
        t.match((error as Error).message, /too large/)
      }
      // Stored rules are not checked again.
      t.ok(compileRules(rules)('abc'.repeat(1_000)).length <= 3_000)
    }
  t.ok(used > 2)
  // Each match of this pattern reads the rest of the title, and there is one for each character.
  const greedy = Array.from({ length: 100 }, () => rule('.*x|a', 'aa'))
  t.ok(compileRules(greedy)('a'.repeat(500)).length <= 500)
  t.equal(compileRules([rule('_', ' ')])('_'.repeat(500)), ' '.repeat(500), 'usual rules fit')
})

t.test('patterns are compiled fast or refused', async t => {
  const rules =
    (pattern: string, count = 1) =>
    () => {
      try {
        validateRules(Array.from({ length: count }, () => ({ pattern, replacement: '' })))
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
      }
    }
  const longest = (piece: string) => piece.repeat(990 / piece.length)
  const patterns = [
    ...[`(?i)[${longest('\\pL')}]`, `(?i)${longest('\\PL')}`, `[^${longest('\\PL\\pN')}]`],
    ...[`(?i)${longest('[!-\\x{10FFFE}a-\\x{10FFF0}]')}`, `(?i)${longest('[a-龥b-龥]')}`],
    ...[longest('a|'), `(?:${longest('(a?)')}){1000}`, `(?:a{1000}){1000}`],
  ]
  for (const pattern of patterns)
    for (const count of [1, 100]) t.ok(cpuMs(rules(pattern, count)) < 150, pattern.slice(0, 30))
})
