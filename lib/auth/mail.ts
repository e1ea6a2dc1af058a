// Mail: plain text over SMTP, when a server is configured.
import { createTransport } from 'nodemailer'
import type { Config } from '../config/config.ts'
import type { Log } from '../log.ts'

export type Letter = { to: string; subject: string; text: string }

export type Mail = {
  /** Whether the server took it; why not is in the log. */
  send(letter: Letter): Promise<boolean>
  /** Sends without anyone waiting for it, so that nobody learns from the time it takes. */
  sendLater(letter: Letter): void
  /** A link into the web application, or null when its address is not configured. */
  link(path: string): string | null
  /** How long a confirmation may take. */
  hours: number
  /** Waits for letters under way. */
  close(): Promise<void>
}

const patienceMs = 10_000
// More would only pile up behind a server that does not answer.
const mostUnderWay = 50

/** Mail as it is configured at the time: whoever keeps this follows a reload. */
export function openPost(config: Config['email'], log: Log) {
  let said = ''
  let current: Mail | null = null
  return {
    /** Null without a host. */
    mail(): Mail | null {
      const now = JSON.stringify(config)
      if (now !== said) {
        void current?.close()
        current = openMail(config, log)
        said = now
      }
      return current
    },
    /** Waits for letters under way. */
    close: async () => current?.close(),
  }
}

/** Null without a host. */
function openMail(config: Config['email'], log: Log): Mail | null {
  const { host, port, secure, username, password, from } = config
  if (host === null) return null
  const isLocal = /^(localhost|127\.|\[?::1\]?$)/.test(host)
  const transport = createTransport({
    host,
    port,
    secure,
    // A password never leaves in the clear.
    requireTLS: username !== null && !isLocal,
    ...(username === null ? {} : { auth: { user: username, pass: password ?? '' } }),
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: patienceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const underWay = new Set<Promise<boolean>>()

  async function deliver({ to, ...letter }: Letter): Promise<boolean> {
    try {
      await transport.sendMail({ from, to: { name: '', address: to }, ...letter })
      return true
    } catch (error) {
      const { code, responseCode } = error as { code?: string; responseCode?: number }
      log.warn({ code, responseCode, host, port }, 'mail not sent')
      return false
    }
  }
  async function send(letter: Letter): Promise<boolean> {
    if (underWay.size >= mostUnderWay) {
      log.warn({ host, port }, 'mail not sent: too many wait for the server')
      return false
    }
    const sending = deliver(letter)
    underWay.add(sending)
    return sending.finally(() => underWay.delete(sending))
  }

  return {
    send,
    sendLater(letter) {
      void send(letter)
    },
    link(path) {
      const base = config.verification_url_base
      return base === null ? null : `${base.replace(/\/+$/, '')}${path}`
    },
    hours: config.verification_hours,
    async close() {
      await Promise.all(underWay)
      transport.close()
    },
  }
}
