// Covers of a series, book, collection or read list: chosen, uploaded, taken from a book, deleted.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { mediaUrl } from '../api/address.ts'
import { api, type Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useGet } from '../api/resource.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormError } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { ErrorState } from '../ui/state.tsx'
import { FileDrop } from './file-drop.tsx'
import { uploadFile } from './files.ts'

type Owner = 'series' | 'books' | 'collections' | 'readlists'
type CoversDialogProps = {
  owner: Owner
  id: string
  title: string
  onSaved?: () => void
  onClose: () => void
}
type GroupingOwner = 'collections' | 'readlists'

const isGrouping = (owner: Owner): owner is GroupingOwner =>
  owner === 'collections' || owner === 'readlists'

/** A collection or read list has no covers to choose from. */
function useCovers(owner: Owner, id: string) {
  const path = isGrouping(owner) ? null : (`/api/v1/${owner}/{id}/covers` as const)
  return useGet(path, { path: { id } })
}

export function CoversDialog({ owner, id, title, onSaved, onClose }: CoversDialogProps) {
  const covers = useCovers(owner, id)
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
        {isGrouping(owner) ? (
          <GroupingCover owner={owner} id={id} onChanged={changed} />
        ) : (
          covers.data && (
            <CoverChoice owner={owner} id={id} covers={covers.data.covers} onChanged={changed} />
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
      <FormError text={error} />
    </div>
  )
}

function GroupingCover({ owner, id, onChanged }: PartProps & { owner: GroupingOwner }) {
  const [version, setVersion] = useState(() => Date.now())
  const reset = async () => {
    await api.DELETE(`/api/v1/${owner}/{id}/cover`, { params: { path: { id } } })
    setVersion(Date.now())
    onChanged()
  }
  return (
    <div class="covers-grouping">
      <span class="cover-box covers-image">
        <Cover owner={owner} id={id} version={version} alt={t('covers.current')} />
      </span>
      <Button icon="refresh" text={t('choice.auto')} onClick={reset} />
    </div>
  )
}

type CoverChoiceProps = PartProps & {
  owner: 'series' | 'books'
  covers: readonly Schemas['Cover'][]
}

function CoverChoice({ owner, id, covers, onChanged }: CoverChoiceProps) {
  const imageOf = (cover: Schemas['Cover']) => mediaUrl(`/${owner}/${id}/covers/${cover.id}/image`)
  const isAutomatic = !covers.some(({ isSelected }) => isSelected)
  const select = async (coverId: string | null) => {
    const params = { path: { id } }
    if (coverId === null) await api.DELETE(`/api/v1/${owner}/{id}/covers/selected`, { params })
    else
      await api.PUT(`/api/v1/${owner}/{id}/covers/{cover_id}/select`, {
        params: { path: { id, cover_id: coverId } },
      })
    onChanged()
  }
  const remove = async (coverId: string) => {
    const params = { path: { id, cover_id: coverId } }
    await api.DELETE(`/api/v1/${owner}/{id}/covers/{cover_id}`, { params })
    onChanged()
  }
  return (
    <ul class="covers-list" aria-label={t('covers.title')}>
      <li key="automatic">
        <Option
          image={isAutomatic ? <Cover owner={owner} id={id} /> : <Icon name="book" size={32} />}
          text={t('choice.auto')}
          isSelected={isAutomatic}
          onClick={() => select(null)}
        />
      </li>
      {covers.map(cover => (
        <li key={cover.id}>
          <Option
            image={<img src={imageOf(cover)} alt="" loading="lazy" />}
            text={sourceText(cover)}
            isSelected={cover.isSelected}
            onClick={() => select(cover.id)}
          />
          <IconButton
            icon="delete"
            class="covers-delete"
            label={t('covers.delete')}
            onClick={() => remove(cover.id)}
          />
        </li>
      ))}
    </ul>
  )
}

type OptionProps = {
  image: VNode
  text: string
  isSelected?: boolean
  onClick: () => unknown
}

function Option({ image, text, isSelected, onClick }: OptionProps) {
  return (
    <Button class="covers-option" variant="quiet" aria-pressed={isSelected} onClick={onClick}>
      <span class="cover-box covers-image">{image}</span>
      <span dir="auto">{text}</span>
      {isSelected && (
        <span class="covers-mark">
          <Icon name="check" size={16} />
        </span>
      )}
    </Button>
  )
}

function sourceText({ width, height }: Schemas['Cover']): string {
  return width && height ? `${width} × ${height}` : t('covers.uploaded')
}

const maxBooks = 60

function FromBook({ id, onChanged }: PartProps) {
  const query = { page: 1, pageSize: maxBooks }
  const { data } = useGet('/api/v1/series/{id}/books', { path: { id }, query })
  const rows = data?.data.filter(({ hasCover }) => hasCover)
  if (!rows?.length) return null
  const select = async (bookId: string) => {
    const params = { path: { id } }
    await api.PUT('/api/v1/series/{id}/covers/from-book', { params, body: { bookId } })
    onChanged()
  }
  return (
    <section class="stack">
      <h3>{t('covers.fromBook')}</h3>
      <ul class="covers-list">
        {rows.map(({ id, title }) => (
          <li key={id}>
            <Option
              image={<Cover owner="books" id={id} />}
              text={title}
              onClick={() => select(id)}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
