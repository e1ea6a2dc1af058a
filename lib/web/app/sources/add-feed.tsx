// A new source of releases: an RSS, Atom or JSON feed.
import { useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { t } from '../text/translate.ts'
import { TextField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { testSource } from './test-source.ts'

type AddFeedProps = { taken: readonly string[]; onAdded: () => void; onClose: () => void }

export function AddFeed({ taken, onAdded, onClose }: AddFeedProps) {
  const name = useInput()
  const url = useInput()
  const language = useInput()
  const [group, setGroup] = useState('')
  const add = async () => {
    const displayName = name.value.trim()
    const config = {
      url: url.value.trim(),
      ...(language.value.trim() && { language: language.value.trim() }),
      ...(group.trim() && { group: group.trim() }),
    }
    const source = { name: freeName(displayName, taken), displayName, config, enabled: true }
    const { id } = await body(
      api.POST('/api/v1/admin/sources', { body: { type: 'feed', ...source } }),
    )
    await testSource(id)
    onAdded()
    onClose()
  }
  return (
    <Form onSubmit={add} submit={t('sources.add')}>
      <TextField label={t('field.name')} required maxLength={200} {...name} />
      <TextField label={t('feed.url')} type="url" required placeholder="https://" {...url} />
      <TextField
        label={t('field.language')}
        hint={t('feed.languageHint')}
        maxLength={35}
        {...language}
      />
      <TextField label={t('feed.group')} maxLength={200} value={group} onInput={setGroup} />
      <p class="field-hint">{t('feed.text')}</p>
    </Form>
  )
}

/** The permanent name of a source: short, of ASCII letters, and not taken. */
function freeName(displayName: string, taken: readonly string[]): string {
  const base =
    displayName
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 40) || 'feed'
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`
    if (!taken.includes(name)) return name
  }
}
