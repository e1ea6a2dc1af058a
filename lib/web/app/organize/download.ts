// Responses of the API saved as files by the browser.

const releaseMs = 60_000

export function saveFile(content: Blob, fileName: string) {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = fileName.replace(/[\\/:*?"<>|\p{Cc}]/gu, '_')
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), releaseMs)
}
