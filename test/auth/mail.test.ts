// The mailer follows the configuration after a reload.
import t from 'tap'
import { createMailer } from '../../lib/auth/mail.ts'
import { loadConfig } from '../../lib/config/config.ts'
import { openLog } from '../../lib/log.ts'

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
