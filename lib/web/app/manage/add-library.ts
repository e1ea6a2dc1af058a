// Form that adds a library: its folder and name, a preview, all other options at hand.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useEdited, useUnsaved } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'
import { FolderBrowser } from './folder-browser.ts'
import { createRequest, type LibraryDraft, nameOfFolder, newDraft } from './library-draft.ts'
import { LibraryOptions } from './library-options.ts'
import { ScanPreview } from './scan-preview.ts'

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
  return h(
    Form,
    { onSubmit: add },
    h(FolderBrowser, { path: draft.path, onChange: chooseFolder }),
    h(ScanPreview, { draft, onChange: change }),
    h(TextField, {
      label: t('library.name'),
      value: draft.name,
      required: true,
      maxLength: 200,
      onInput: name => {
        setOwnName(name !== '')
        change({ name })
      },
    }),
    h(
      'details',
      { class: 'more-options' },
      h('summary', null, t('libraryOptions.more')),
      h('p', { class: 'secondary-text' }, t('libraryOptions.moreHint')),
      h(LibraryOptions, { draft, onChange: change, existing: null }),
    ),
    h('button', { class: 'button primary', type: 'submit' }, t('library.add')),
  )
}
