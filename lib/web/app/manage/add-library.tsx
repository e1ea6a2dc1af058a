// Form that adds a library: folder, name, preview and options.
import { useEffect, useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useEdited, useUnsaved } from '../routing/unsaved.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { FolderBrowser } from './folder-browser.tsx'
import {
  type ChangeDraft,
  createRequest,
  type LibraryDraft,
  nameOfFolder,
  newDraft,
} from './library-draft.ts'
import { LibraryOptions } from './library-options.tsx'

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

type Preview = Schemas['ScanPreview']
type State = { preview: Preview | null; error: unknown; isLoading: boolean }

const delayMs = 600
const shownSeries = 5

type ScanPreviewProps = { draft: LibraryDraft; onChange: ChangeDraft }

/** Before the library is created. */
function ScanPreview({ draft, onChange }: ScanPreviewProps) {
  const { preview, error, isLoading } = usePreview(draft)
  if (draft.path === '') return null
  return (
    <div class="scan-preview card" aria-live="polite" aria-busy={isLoading}>
      {error ? (
        <p class="secondary-text">{previewError(error)}</p>
      ) : preview ? (
        <>
          <Found preview={preview} />
          <Suggestion preview={preview} onChange={onChange} />
        </>
      ) : (
        <p class="secondary-text">{t('preview.loading')}</p>
      )}
    </div>
  )
}

const previewError = (error: unknown) =>
  error instanceof ApiError && error.status === 400 ? t('preview.unreadable') : messageOf(error)

function Found({ preview }: { preview: Preview }) {
  const { totalFiles, totalSeries, isComplete, detectedSeries } = preview
  if (totalFiles === 0) return <p>{t('preview.empty')}</p>
  const books = t('count.books', { count: totalFiles })
  const series = t('count.series', { count: totalSeries })
  const more = totalSeries - Math.min(shownSeries, detectedSeries.length)
  return (
    <div>
      <p class="scan-preview-total">
        {t(isComplete ? 'preview.found' : 'preview.foundAtLeast', { books, series })}
      </p>
      <ul class="scan-preview-series">
        {detectedSeries.slice(0, shownSeries).map(({ name, path, bookCount }) => (
          <li key={path ?? name}>
            <bdi>{name}</bdi>
            <span class="secondary-text">{t('count.books', { count: bookCount })}</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="secondary-text">{t('preview.more', { count: more })}</p>}
    </div>
  )
}

function Suggestion({ preview, onChange }: { preview: Preview; onChange: ChangeDraft }) {
  const strategy = preview.suggestedStrategy
  if (strategy === null) return null
  const use = () => onChange({ seriesStrategy: strategy, seriesConfig: {} })
  return (
    <div class="scan-preview-suggestion">
      <p>{t(`preview.suggestion.${strategy}`)}</p>
      <Button onClick={use}>
        {t('preview.useSuggestion', { strategy: t(`strategy.series.${strategy}`) })}
      </Button>
    </div>
  )
}

/** The debounced preview for the options that affect it. */
function usePreview(draft: LibraryDraft): State {
  const { path, seriesStrategy, seriesConfig, allowedFormats, excludedPatterns } = draft
  const request = {
    path: path.trim(),
    seriesStrategy,
    seriesConfig,
    allowedFormats: [...allowedFormats] as never[],
    excludedPatterns,
  }
  const key = JSON.stringify(request)
  const [state, setState] = useState<State>({ preview: null, error: null, isLoading: true })
  useEffect(() => {
    if (request.path === '') return
    const controller = new AbortController()
    const { signal } = controller
    setState(previous => ({ ...previous, isLoading: true }))
    const timer = setTimeout(() => {
      body(api.POST('/api/v1/libraries/preview-scan', { body: request, signal })).then(
        preview => setState({ preview, error: null, isLoading: false }),
        error => {
          if (!signal.aborted) setState({ preview: null, error, isLoading: false })
        },
      )
    }, delayMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [key])
  return state
}
