// The Komga-compatible API of a test server: enabling it, and its event stream.
import type { TestApi } from './server.ts'

type Admin = Pick<Awaited<ReturnType<TestApi['createUser']>>, 'post'>

/** Enables the API, or changes its prefix; the server applies it to the next request. */
export async function enableKomga(
  admin: Admin,
  { enabled = true, prefix = 'komga' } = {},
): Promise<void> {
  const { status } = await admin.post('/admin/settings/bulk', {
    updates: [
      { key: 'komga.enabled', value: enabled },
      { key: 'komga.prefix', value: prefix },
    ],
  })
  if (status !== 200) throw new Error(`The settings were not changed: ${status}`)
}

export type ReceivedEvent = [name: string, data: unknown]

/** Reads the events of a response. */
export function createReceiver(response: Response) {
  const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    /** What was received since the last call, up to the first event of that name. */
    async until(name: string): Promise<ReceivedEvent[]> {
      const received: ReceivedEvent[] = []
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end < 0) {
          const { value, done } = await chunks.read()
          if (done) throw new Error(`The stream ended before ${name}`)
          text += value
          continue
        }
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        const [, event, data] = /^event: (\w+)\ndata: (.+)/.exec(block) ?? []
        if (event === undefined) continue
        received.push([event, JSON.parse(data!)])
        if (event === name) return received
      }
    },
  }
}
