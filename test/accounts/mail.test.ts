// The mailer: it follows the configuration after a reload, and protects the password of the mail server.
import { once } from 'node:events'
import { SMTPServer } from 'smtp-server'
import t from 'tap'
import { createMailer } from '../../lib/accounts/mail.ts'
import { openLog } from '../../lib/base/log.ts'
import { loadConfig } from '../../lib/store/config/config.ts'

t.test('the mailer uses the current configuration', async t => {
  const { email, application } = structuredClone(loadConfig({ env: {} }))
  const mailer = createMailer({ email, application }, openLog({ level: 'silent' }))
  t.teardown(() => mailer.close())
  t.equal(mailer.current(), null)
  Object.assign(email, { host: 'localhost', verification_url_base: 'https://a.example/' })
  const first = mailer.current()
  t.equal(first?.link('/verify'), 'https://a.example/verify')
  t.equal(mailer.current(), first, 'it is reused for each message')
  Object.assign(email, { verification_url_base: 'https://b.example' })
  t.equal(mailer.current()?.link('/verify'), 'https://b.example/verify')
  Object.assign(email, { verification_url_base: null })
  t.equal(mailer.current()?.link('/verify'), null)
  Object.assign(application, { public_url: 'https://c.example/books/' })
  t.equal(mailer.current()?.link('/verify'), 'https://c.example/books/verify')
  Object.assign(email, { host: null })
  t.equal(mailer.current(), null)
})

t.test('the password is sent without encryption to this host only', async t => {
  const signedIn: string[] = []
  const server = new SMTPServer({
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    onAuth({ username }, _session, done) {
      signedIn.push(username!)
      done(null, { user: username })
    },
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => new Promise<void>(resolve => server.close(resolve)))
  const { port } = server.server.address() as { port: number }
  const sendTo = async (host: string) => {
    const { email, application } = structuredClone(loadConfig({ env: {} }))
    Object.assign(email, {
      host,
      port,
      username: 'stackroom',
      password: 'secret',
      from: 'a@b.example',
    })
    const mailer = createMailer({ email, application }, openLog({ level: 'silent' }))
    t.teardown(() => mailer.close())
    return await mailer.current()!.send({ to: 'ana@example.org', subject: 'x', text: 'x' })
  }
  t.equal(await sendTo('127.0.0.1'), true)
  t.same(signedIn, ['stackroom'])
  // The same server, but nothing in the name shows that.
  t.equal(await sendTo('0.0.0.0'), false)
  t.same(signedIn, ['stackroom'])
})
