// Mail over SMTP (plain text), if a server is configured.
import type { Transporter } from 'nodemailer'
import type { Log } from '../base/log.ts'
import type { Config } from '../store/config/config.ts'

export type MailMessage = { to: string; subject: string; text: string }

export type Mailer = NonNullable<ReturnType<typeof openTransport>>

type MailConfig = {
  email: Config['email']
  application: Pick<Config['application'], 'public_url'>
}

const smtpTimeoutMs = 10_000
// More would only accumulate behind a server that does not respond.
const maxPending = 50

/** The mailer of the current configuration; it is replaced after a reload. */
export function createMailer(config: MailConfig, log: Log) {
  let currentConfig = ''
  let current: Mailer | null = null
  return {
    /** Null without an SMTP server. */
    current(): Mailer | null {
      const newConfig = JSON.stringify([config.email, config.application.public_url])
      if (newConfig !== currentConfig) {
        void current?.close()
        current = openTransport(config, log)
        currentConfig = newConfig
      }
      return current
    },
    /** Waits for pending messages. */
    close: async () => current?.close(),
  }
}

/** Null without an SMTP server. */
function openTransport({ email: config, application }: MailConfig, log: Log) {
  const { host, port, secure, username, password, from } = config
  if (host === null) return null
  const isLocal = /^(localhost|127\.|\[?::1\]?$)/.test(host)
  const options = {
    host,
    port,
    secure,
    // The password is never sent unencrypted, except to this host.
    requireTLS: username !== null && !isLocal,
    ...(username === null ? {} : { auth: { user: username, pass: password ?? '' } }),
    connectionTimeout: smtpTimeoutMs,
    greetingTimeout: smtpTimeoutMs,
    socketTimeout: smtpTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  // Loaded with the first message: most servers never send one.
  let loading: Promise<Transporter> | null = null
  const load = async () => (await import('nodemailer')).createTransport(options)
  const pending = new Set<Promise<boolean>>()

  async function deliver({ to, ...message }: MailMessage): Promise<boolean> {
    try {
      loading ??= load()
      const transport = await loading
      await transport.sendMail({ from, to: { name: '', address: to }, ...message })
      return true
    } catch (error) {
      const { code, responseCode } = error as { code?: string; responseCode?: number }
      log.warn({ code, responseCode, host, port }, 'mail not sent')
      return false
    }
  }
  /** Whether the server accepted the message; failures are logged. */
  async function send(message: MailMessage): Promise<boolean> {
    if (pending.size >= maxPending) {
      log.warn({ host, port }, 'mail not sent, too many pending')
      return false
    }
    const sending = deliver(message)
    pending.add(sending)
    return sending.finally(() => pending.delete(sending))
  }

  return {
    send,
    /** Sends in the background, so that the response time does not reveal whether a mail is sent. */
    sendLater(message: MailMessage) {
      void send(message)
    },
    /** A link into the web application or to this server, or null when no address is configured. */
    link(path: string) {
      const base = config.verification_url_base ?? application.public_url
      return base === null ? null : `${base.replace(/\/+$/, '')}${path}`
    },
    /** How long a confirmation code is valid. */
    verificationHours: config.verification_hours,
    /** Waits for pending messages. */
    async close() {
      await Promise.all(pending)
      ;(await loading)?.close()
    },
  }
}
