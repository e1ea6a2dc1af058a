// Mail follows the configuration.
import t from 'tap'
import { openPost } from '../../lib/auth/mail.ts'
import { loadConfig } from '../../lib/config/config.ts'
import { openLog } from '../../lib/log.ts'

t.test('mail is what the configuration says at the time', async t => {
  const config = { ...loadConfig({ env: {} }).email }
  const post = openPost(config, openLog({ level: 'silent' }))
  t.teardown(() => post.close())
  t.equal(post.mail(), null)
  Object.assign(config, { host: 'localhost', verification_url_base: 'https://a.example/' })
  const first = post.mail()
  t.equal(first?.link('/verify'), 'https://a.example/verify')
  t.equal(post.mail(), first, 'it is not opened for each letter')
  Object.assign(config, { verification_url_base: 'https://b.example' })
  t.equal(post.mail()?.link('/verify'), 'https://b.example/verify')
  Object.assign(config, { host: null })
  t.equal(post.mail(), null)
})
