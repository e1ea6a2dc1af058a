// Panels of the EPUB reader: contents, settings, search, notes, and links that lead out of the book.

import type { Signal } from '@preact/signals'
import { Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Dialog } from '../ui/dialog.ts'
import { h } from '../ui/h.ts'
import { ShortcutsDialog } from '../ui/shortcuts-dialog.ts'
import type { BookReader } from './book-reader.ts'
import { sectionOf } from './content/publication.ts'
import { SearchPanel } from './search-panel.ts'
import { SettingsPanel } from './settings-panel.ts'
import { shortcuts } from './shortcuts.ts'

export type Panel = 'contents' | 'settings' | 'search' | 'help'

type PanelProps = { reader: BookReader; onClose: () => void }

type PanelsProps = {
  reader: BookReader
  panel: Signal<Panel | null>
  isIncognito: Signal<boolean>
}

export function Panels({ reader, panel, isIncognito }: PanelsProps) {
  const onClose = () => {
    panel.value = null
  }
  if (reader.following.note.value) return h(NotePanel, { reader })
  if (reader.following.externalLink.value) return h(ExternalLinkPanel, { reader })
  if (panel.value === 'contents') return h(ContentsPanel, { reader, onClose })
  if (panel.value === 'settings')
    return h(SettingsPanel, {
      isFixed: reader.publication.isFixed,
      isIncognito,
      onShortcuts: () => void (panel.value = 'help'),
      onClose,
    })
  if (panel.value === 'help') return h(ShortcutsDialog, { shortcuts, onClose })
  if (panel.value === 'search') return h(SearchPanel, { reader, onClose })
  return null
}

function ContentsPanel({ reader, onClose }: PanelProps) {
  const { publication, position } = reader
  const { contents, sections } = publication
  const list = useRef<HTMLOListElement>(null)
  const current = position.value?.entry ?? -1
  useEffect(() => {
    list.current?.querySelector<HTMLElement>('[aria-current]')?.focus()
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' })
  }, [])
  const entries =
    contents.length > 0
      ? contents
      : sections.map(({ path }, i) => ({
          title: t('epub.section', { number: i + 1 }),
          depth: 0,
          path,
          id: '',
        }))
  return h(Dialog, {
    title: t('epub.contents'),
    onClose,
    children: h(
      'ol',
      { class: 'epub-contents', ref: list },
      entries.map(({ title, depth, path, id }, i) => {
        const section = sectionOf(publication, path)
        const go = () => {
          onClose()
          void reader.jump({ section, ...(id && { at: { id } }) })
        }
        return h(
          'li',
          { key: i, style: { paddingInlineStart: `${depth * 18}px` } },
          h(
            'button',
            {
              type: 'button',
              class: 'menu-item',
              dir: 'auto',
              disabled: section < 0,
              'aria-current': i === current ? 'true' : undefined,
              onClick: go,
            },
            title,
          ),
        )
      }),
    ),
  })
}

function NotePanel({ reader }: { reader: BookReader }) {
  const { paragraphs, target } = reader.following.note.value!
  const onClose = () => {
    reader.following.note.value = null
  }
  const go = () => {
    onClose()
    void reader.jump(target)
  }
  return h(Dialog, {
    title: t('epub.note'),
    onClose,
    actions: h(Button, { onClick: go }, t('epub.goToNote')),
    children: h(
      'div',
      { class: 'epub-note', dir: 'auto' },
      paragraphs.map((text, i) => h('p', { key: i }, text)),
    ),
  })
}

function ExternalLinkPanel({ reader }: { reader: BookReader }) {
  const url = reader.following.externalLink.value!
  const onClose = () => {
    reader.following.externalLink.value = null
  }
  return h(Dialog, {
    title: t('epub.externalLink'),
    onClose,
    actions: h(
      Fragment,
      null,
      h(Button, { variant: 'quiet', onClick: onClose }, t('action.cancel')),
      h(
        'a',
        {
          class: 'button primary',
          href: url,
          target: '_blank',
          rel: 'noreferrer noopener',
          onClick: onClose,
        },
        t('epub.openLink'),
      ),
    ),
    children: h(
      Fragment,
      null,
      h('p', null, t('epub.externalLinkText')),
      h('p', { class: 'epub-url', dir: 'ltr' }, url.slice(0, 500)),
    ),
  })
}
