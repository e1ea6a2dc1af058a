// Command for the texts of the web application, on a copy of the files that it reads and writes.
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..', '..', '..')
const folder = t.testdir()
const texts = 'lib/web/app/text'
const command = 'test/kit/generate/texts.ts'
for (const path of [texts, command, 'test/kit/web/texts.ts'])
  cpSync(join(root, path), join(folder, path), { recursive: true })
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')

const read = (file: string) => readFileSync(join(folder, texts, file), 'utf8')
const run = (...args: string[]) => {
  const options = { encoding: 'utf8', maxBuffer: 2 ** 24 } as const
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, command), ...args], options)
  return stdout + stderr
}
/** A problem is one line of many. */
const finds = (output: string, problem: string) => output.split('\n').includes(problem)

t.test('a language is added, translated in parts and checked', async t => {
  t.match(run('check'), /languages are complete/)
  run('add', 'nl')
  t.match(read('languages.ts'), /'zh-Hans': '简体中文',\n {2}nl: 'Nederlands',\n\} as const/)
  t.match(JSON.parse(read('nl.json')), {
    'account.title': '',
    'count.books': { one: '', other: '' },
  })
  t.ok(finds(run('check'), 'nl account.title: missing'))
  t.match(run('add', 'nl'), /nl is there already/)

  const missing = JSON.parse(run('missing', 'nl'))
  t.same(missing['count.books'], {
    en: { one: '{count} book', other: '{count} books' },
    nl: { one: '', other: '' },
  })
  const part = {
    'account.title': { nl: 'Account' },
    'count.books': { nl: { one: '{count} boek', other: '{count} boeken' }, fr: '' },
  }
  const file = join(folder, 'part.json')
  writeFileSync(file, JSON.stringify(part))
  const left = run('merge', file)
  t.ok(finds(left, 'nl account.menu: missing'))
  t.notOk(finds(left, 'nl account.title: missing'))
  const remaining = JSON.parse(run('missing', 'nl'))
  const translated = Object.keys(missing).filter(key => !(key in remaining))
  t.same(translated, ['account.title', 'count.books'])
  t.equal(read('fr.json'), readFileSync(join(root, texts, 'fr.json'), 'utf8'), 'as it was')
})

t.test('what English does not have is removed, and the rest is sorted', async t => {
  const german = read('de.json')
  const { 'account.title': moved, ...others } = JSON.parse(german)
  const changed = { ...others, gone: 'Weg', 'account.title': moved }
  writeFileSync(join(folder, texts, 'de.json'), JSON.stringify(changed))
  const found = run('check')
  t.ok(finds(found, 'de gone: not in English') && finds(found, 'de keys are not sorted'))
  run('tidy')
  t.equal(read('de.json'), german)
})
