// The mailer follows the configuration after a reload.
import t from 'tap'
import { createMailer } from '../../lib/auth/mail.ts'
import { loadConfig } from '../../lib/config/config.ts'
import { openLog } from '../../lib/log.ts'

t.test('the mailer uses the current configuration', async t => {
  const config = { ...loadConfig({ env: {} }).email }
  const mailer = createMailer(config, openLog({ level: 'silent' }))
  t.teardown(() => mailer.close())
  t.equal(mailer.current(), null)
  Object.assign(config, { host: 'localhost', verification_url_base: 'https://a.example/' })
  const first = mailer.current()
  t.equal(first?.link('/verify'), 'https://a.example/verify')
  t.equal(mailer.current(), first, 'it is reused for each message')
  Object.assign(config, { verification_url_base: 'https://b.example' })
  t.equal(mailer.current()?.link('/verify'), 'https://b.example/verify')
  Object.assign(config, { host: null })
  t.equal(mailer.current(), null)
})
