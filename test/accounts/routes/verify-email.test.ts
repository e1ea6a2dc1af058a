// Email verification over HTTP; genres of a single book.
import { createHash } from 'node:crypto'
import { test } from 'tap'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

test('e-mail verification and book genres', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')

  await t.test('the token of a registration verifies the address once and signs in', async t => {
    const sleeper = await all.createUser('reader')
    const token = 'a'.repeat(64)
    const digest = createHash('sha256').update(token).digest()
    await all.sql`update account set is_active = false, email_verified = false where id = ${sleeper.id}`
    await all.sql`
      insert into email_verification (sha256, account_id, created_at, expires_at)
      select ${digest}, id, created_at, now() + interval '1 hour' from account
      where id = ${sleeper.id}`
    t.equal((await all.anonymous.post('/auth/verify-email', { token: 'b'.repeat(64) })).status, 400)
    const confirmed = await all.anonymous.post('/auth/verify-email', { token })
    t.equal(confirmed.status, 200)
    const headers = { authorization: `Bearer ${confirmed.body.accessToken}` }
    t.equal((await all.anonymous.get('/auth/me', { headers })).body.emailVerified, true)
    t.equal((await all.anonymous.post('/auth/verify-email', { token })).status, 400)
  })

  await t.test('a genre is added to a book and removed', async t => {
    const shelf = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
    await shelf.scan()
    const { id } = await shelf.book('1.cbz')
    const genre = await admin.post(`/books/${id}/genres`, { name: 'Noir' })
    t.equal((await admin.get(`/books/${id}/genres`)).body.genres[0].name, 'Noir')
    t.equal((await admin.delete(`/books/${id}/genres/${genre.body.id}`)).status, 204)
    t.same((await admin.get(`/books/${id}/genres`)).body.genres, [])
    t.equal((await admin.delete(`/books/${id}/genres/${genre.body.id}`)).status, 404)
  })
})
