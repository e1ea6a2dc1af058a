// Files sent to the server, and responses saved as files.
import { apiUrl } from '../api/address.ts'
import { failureOf, noConnection } from '../api/errors.ts'
import { accessToken } from '../api/session.ts'

const releaseMs = 60_000

export function saveFile(content: Blob, fileName: string) {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = fileName.replace(/[\\/:*?"<>|\p{Cc}]/gu, '_')
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), releaseMs)
}

type Upload = { path: string; file: File; onProgress: (share: number) => void }

/** Sends a file as multipart/form-data to an API path, with its progress, which `fetch` does not report. Throws ApiError. */
export async function uploadFile({ path, file, onProgress }: Upload): Promise<void> {
  const token = await accessToken()
  const form = new FormData()
  form.append('file', file)
  const request = new XMLHttpRequest()
  request.open('POST', apiUrl(path))
  if (token !== null) request.setRequestHeader('authorization', `Bearer ${token}`)
  request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
  await new Promise<void>((resolve, reject) => {
    request.onerror = () => reject(noConnection())
    request.onload = () => resolve()
    request.send(form)
  })
  const { status, statusText, responseText } = request
  if (status >= 400) throw await failureOf(new Response(responseText, { status, statusText }))
}
