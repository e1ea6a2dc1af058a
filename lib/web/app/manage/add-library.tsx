// Form that adds a library: folder, name, preview and options.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useEdited, useUnsaved } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { FolderBrowser } from './folder-browser.tsx'
import { createRequest, type LibraryDraft, nameOfFolder, newDraft } from './library-draft.ts'
import { LibraryOptions } from './library-options.tsx'
import { ScanPreview } from './scan-preview.tsx'

type AddLibraryProps = { onAdded: (library: Schemas['Library']) => void }

export function AddLibrary({ onAdded }: AddLibraryProps) {
  const [draft, setDraft] = useState<LibraryDraft>(newDraft)
  const [hasOwnName, setOwnName] = useState(false)
  const { isEdited } = useEdited(draft)
  useUnsaved(isEdited)
  const change = (changes: Partial<LibraryDraft>) =>
    setDraft(previous => ({ ...previous, ...changes }))
  const chooseFolder = (path: string) =>
    change({ path, ...(!hasOwnName && { name: nameOfFolder(path) }) })
  const add = async () => {
    const request = createRequest({ ...draft, path: draft.path.trim() })
    onAdded(await body(api.POST('/api/v1/libraries', { body: request })))
  }
  return (
    <Form onSubmit={add} submit={t('library.add')}>
      <FolderBrowser path={draft.path} onChange={chooseFolder} />
      <ScanPreview draft={draft} onChange={change} />
      <TextField
        label={t('field.name')}
        value={draft.name}
        required
        maxLength={200}
        onInput={name => {
          setOwnName(name !== '')
          change({ name })
        }}
      />
      <details class="more-options">
        <summary>{t('libraryOptions.more')}</summary>
        <p class="secondary-text">{t('libraryOptions.moreHint')}</p>
        <LibraryOptions draft={draft} onChange={change} existing={null} />
      </details>
    </Form>
  )
}
