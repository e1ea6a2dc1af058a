// File upload with progress, which `fetch` does not report.
import { apiUrl } from '../api/address.ts'
import { ApiError, noConnection } from '../api/errors.ts'
import { accessToken } from '../api/session.ts'

type UploadOptions = {
  path: string
  file: File
  onProgress: (share: number) => void
  signal?: AbortSignal
}

/** Sends a file as multipart/form-data to an API path; returns the response body. Throws ApiError. */
export async function uploadFile<T>({ path, file, onProgress, signal }: UploadOptions): Promise<T> {
  const token = await accessToken()
  const form = new FormData()
  form.append('file', file)
  return await new Promise<T>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', apiUrl(path))
    if (token !== null) request.setRequestHeader('authorization', `Bearer ${token}`)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onerror = () => reject(noConnection())
    request.onabort = () => reject(new DOMException('The upload was canceled', 'AbortError'))
    request.onload = () => {
      const body = parse(request.responseText)
      if (request.status < 400) resolve(body as T)
      else
        reject(
          new ApiError(request.status, body?.message ?? request.statusText, {
            details: body?.details,
          }),
        )
    }
    signal?.addEventListener('abort', () => request.abort())
    request.send(form)
  })
}

function parse(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
