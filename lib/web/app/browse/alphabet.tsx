// Letters of a series list by title: places to jump to.
import { useEffect, useState } from 'preact/hooks'
import { allItems, api } from '../api/client.ts'
import { t } from '../text/translate.ts'
import { Menu } from '../ui/menu.tsx'
import type { Condition } from './filters/filter-condition.ts'

/** A letter with the index of its first series. */
export type Letter = { text: string; index: number }
type Filter = { condition: Condition | null; fullTextSearch?: string }
type TitleOrder = 'ascending' | 'descending' | null

/** Alphabets up to this size are listed by letter; larger writing systems are one entry each. */
const maxLetters = 30

/** The letters of a list sorted by title; none in any other order. */
export function useAlphabet(filter: Filter, key: string, order: TitleOrder): Letter[] {
  const [state, setState] = useState<{ key: string; groups: { group: string; count: number }[] }>()
  useEffect(() => {
    if (order === null || state?.key === key) return
    const controller = new AbortController()
    const { signal } = controller
    allItems(query => {
      const init = { params: { query }, body: filter, signal }
      return api.POST('/api/v1/series/list/alphabetical-groups', init)
    })
      .then(groups => setState({ key, groups }))
      // The list shows the error; without letters it can be scrolled.
      .catch(() => {})
    return () => controller.abort()
  }, [key, order])
  if (order === null || state?.key !== key) return []
  return lettersOf(order === 'ascending' ? state.groups : state.groups.toReversed())
}

function lettersOf(groups: readonly { group: string; count: number }[]): Letter[] {
  const letters: (Letter & { script: string })[] = []
  let index = 0
  for (const { group, count } of groups) {
    const script = groups.length > maxLetters ? scriptOf(group) : group
    if (letters.at(-1)?.script !== script)
      letters.push({ text: group.toLocaleUpperCase(), index, script })
    index += count
  }
  return letters.length > 1 ? letters : []
}

const scripts = [
  ['kana', /\p{Script=Hiragana}|\p{Script=Katakana}/u],
  ['Han', /\p{Script=Han}/u],
  ['Hangul', /\p{Script=Hangul}/u],
] as const
const alphabet =
  /\p{Script=Latin}|\p{Script=Greek}|\p{Script=Cyrillic}|\p{Script=Hebrew}|\p{Script=Arabic}/u

/** One entry: a letter, a writing system with many characters, or all symbols. */
function scriptOf(letter: string): string {
  if (alphabet.test(letter)) return letter
  return scripts.find(([, pattern]) => pattern.test(letter))?.[0] ?? '#'
}

type AlphabetProps = { alphabet: readonly Letter[]; onJump: (index: number) => void }

/** Beside the grid, on wide windows. */
export function AlphabetRail({ alphabet, onJump }: AlphabetProps) {
  if (alphabet.length === 0) return null
  return (
    <nav class="browse-rail" aria-label={t('browse.letters')}>
      {letterButtons({ alphabet, onJump }, '')}
    </nav>
  )
}

/** Behind a button, on phones. */
export function AlphabetMenu({ alphabet, onJump }: AlphabetProps) {
  if (alphabet.length === 0) return null
  return (
    <div class="browse-letters">
      <Menu label={`${t('browse.letters')}: A–Z`} trigger={<span aria-hidden>A–Z</span>}>
        <div class="browse-letters-grid">{letterButtons({ alphabet, onJump }, 'menu-item')}</div>
      </Menu>
    </div>
  )
}

const letterButtons = ({ alphabet, onJump }: AlphabetProps, className: string) =>
  alphabet.map(({ text, index }) => (
    <button
      key={index}
      type="button"
      class={className}
      aria-label={t('browse.jumpTo', { letter: text })}
      onClick={() => onJump(index)}
    >
      {text}
    </button>
  ))
