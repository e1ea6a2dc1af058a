// Covers of a series, book, collection or read list: chosen, uploaded, taken from a book, deleted.
import { useState } from 'preact/hooks'
import { mediaUrl } from '../api/address.ts'
import { api, body, type Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Icon } from '../ui/icon.tsx'
import { FileDrop } from './file-drop.tsx'
import { uploadFile } from './upload.ts'

type Owner = 'series' | 'books' | 'collections' | 'readlists'
type CoversDialogProps = {
  owner: Owner
  id: string
  title: string
  onSaved?: () => void
  onClose: () => void
}
type Covers = Schemas['Cover'][]

export function CoversDialog({ owner, id, title, onSaved, onClose }: CoversDialogProps) {
  const isGrouping = owner === 'collections' || owner === 'readlists'
  const covers = useResource<Covers>(isGrouping ? null : `/${owner}/${id}/covers`, async signal => {
    const init = { params: { path: { id } }, signal }
    const { covers } = await body(
      owner === 'series'
        ? api.GET('/api/v1/series/{id}/covers', init)
        : api.GET('/api/v1/books/{id}/covers', init),
    )
    return covers
  })
  const changed = () => {
    covers.reload()
    onSaved?.()
  }
  return (
    <Dialog title={t('covers.of', { title })} onClose={onClose} width="wide">
      <div class="covers">
        <Upload owner={owner} id={id} onUploaded={changed} />
        {covers.error && !covers.data && (
          <ErrorState error={covers.error} onRetry={covers.reload} />
        )}
        {isGrouping ? (
          <GroupingCover owner={owner} id={id} onChanged={changed} />
        ) : (
          covers.data && (
            <CoverChoice
              owner={owner as 'series' | 'books'}
              id={id}
              covers={covers}
              onChanged={changed}
            />
          )
        )}
        {owner === 'series' && <FromBook id={id} onChanged={changed} />}
      </div>
    </Dialog>
  )
}

type PartProps = { id: string; onChanged: () => void }

function Upload({ owner, id, onUploaded }: { owner: Owner; id: string; onUploaded: () => void }) {
  const [progress, setProgress] = useState<number | null>(null)
  const [error, setError] = useState<string | null>(null)
  const upload = async (file: File) => {
    if (!file.type.startsWith('image/')) return setError(t('covers.notImage', { name: file.name }))
    setError(null)
    setProgress(0)
    try {
      await uploadFile({ path: `/${owner}/${id}/cover`, file, onProgress: setProgress })
      onUploaded()
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0
      setError(
        status === 413
          ? t('covers.tooLarge')
          : status === 400
            ? t('covers.notImage', { name: file.name })
            : messageOf(error),
      )
    } finally {
      setProgress(null)
    }
  }
  return (
    <div class="covers-upload">
      <FileDrop
        text={t('covers.drop')}
        accept="image/*"
        progress={progress}
        onFile={file => void upload(file)}
      />
      {error && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

function GroupingCover({ owner, id, onChanged }: PartProps & { owner: Owner }) {
  const [version, setVersion] = useState(() => Date.now())
  const reset = async () => {
    const params = { path: { id } }
    if (owner === 'collections') await api.DELETE('/api/v1/collections/{id}/cover', { params })
    else await api.DELETE('/api/v1/readlists/{id}/cover', { params })
    setVersion(Date.now())
    onChanged()
  }
  return (
    <div class="covers-grouping">
      <span class="covers-image">
        <Cover owner={owner} id={id} version={version} alt={t('covers.current')} />
      </span>
      <Button icon="refresh" onClick={reset}>
        {t('choice.auto')}
      </Button>
    </div>
  )
}

type CoverChoiceProps = PartProps & { owner: 'series' | 'books'; covers: Resource<Covers> }

function CoverChoice({ owner, id, covers, onChanged }: CoverChoiceProps) {
  const list = covers.data!
  const isAutomatic = !list.some(({ isSelected }) => isSelected)
  const select = async (coverId: string | null) => {
    if (coverId === null) {
      const init = { params: { path: { id } } }
      await (owner === 'series'
        ? api.DELETE('/api/v1/series/{id}/covers/selected', init)
        : api.DELETE('/api/v1/books/{id}/covers/selected', init))
    } else {
      const init = { params: { path: { id, cover_id: coverId } } }
      await (owner === 'series'
        ? api.PUT('/api/v1/series/{id}/covers/{cover_id}/select', init)
        : api.PUT('/api/v1/books/{id}/covers/{cover_id}/select', init))
    }
    onChanged()
  }
  const remove = async (coverId: string) => {
    const init = { params: { path: { id, cover_id: coverId } } }
    await (owner === 'series'
      ? api.DELETE('/api/v1/series/{id}/covers/{cover_id}', init)
      : api.DELETE('/api/v1/books/{id}/covers/{cover_id}', init))
    onChanged()
  }
  return (
    <ul class="covers-list" aria-label={t('covers.title')}>
      <li key="automatic">
        <Button
          class="covers-option"
          variant="quiet"
          aria-pressed={isAutomatic}
          onClick={() => select(null)}
        >
          <span class="covers-image">
            {isAutomatic ? <Cover owner={owner} id={id} /> : <Icon name="book" size={32} />}
          </span>
          <span>{t('choice.auto')}</span>
          {isAutomatic && (
            <span class="covers-mark">
              <Icon name="check" size={16} />
            </span>
          )}
        </Button>
      </li>
      {list.map(cover => (
        <li key={cover.id}>
          <Button
            class="covers-option"
            variant="quiet"
            aria-pressed={cover.isSelected}
            onClick={() => select(cover.id)}
          >
            <span class="covers-image">
              <img
                src={mediaUrl(`/${owner}/${id}/covers/${cover.id}/image`)}
                alt=""
                loading="lazy"
              />
            </span>
            <span>{sourceText(cover)}</span>
            {cover.isSelected && (
              <span class="covers-mark">
                <Icon name="check" size={16} />
              </span>
            )}
          </Button>
          <IconButton
            icon="delete"
            variant="quiet"
            class="covers-delete"
            label={t('covers.delete')}
            onClick={() => remove(cover.id)}
          />
        </li>
      ))}
    </ul>
  )
}

function sourceText({ width, height }: Schemas['Cover']): string {
  return width && height ? `${width} × ${height}` : t('covers.uploaded')
}

const maxBooks = 60

function FromBook({ id, onChanged }: PartProps) {
  const books = useResource(`/series/${id}/books?covers`, signal =>
    body(
      api.GET('/api/v1/series/{id}/books', {
        params: { path: { id }, query: { page: 1, pageSize: maxBooks } },
        signal,
      }),
    ),
  )
  const rows = books.data?.data.filter(({ hasCover }) => hasCover)
  if (!rows?.length) return null
  const select = async (bookId: string) => {
    await api.PUT('/api/v1/series/{id}/covers/from-book', {
      params: { path: { id } },
      body: { bookId },
    })
    onChanged()
  }
  return (
    <section class="covers-books">
      <h3>{t('covers.fromBook')}</h3>
      <ul class="covers-list">
        {rows.map(({ id, title }) => (
          <li key={id}>
            <Button class="covers-option" variant="quiet" onClick={() => select(id)}>
              <span class="covers-image">
                <Cover owner="books" id={id} />
              </span>
              <span dir="auto">{title}</span>
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
