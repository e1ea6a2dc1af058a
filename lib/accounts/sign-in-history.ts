// Sign-in history: when and from where the stored sessions were started.
import type { Sql } from '../store/postgres/db.ts'

export type SignIn = {
  accountId: string
  /** The e-mail address, or else the name. */
  login: string
  /** Network of the client; null if unknown. */
  address: string | null
  at: Date
  /** The API key with which an app started its session. */
  key: { id: string; name: string } | null
}

type SignInRequest = {
  /** Null for all. */
  accountId: string | null
  isDescending: boolean
  offset: number
  limit: number
}

/** A page sorted by time, and the total. Sessions that have ended are deleted after a while. */
export async function listSignIns(
  sql: Sql,
  { accountId, isDescending, offset, limit }: SignInRequest,
): Promise<{ signIns: SignIn[]; total: number }> {
  const own = accountId === null ? sql`true` : sql`n.account_id = ${accountId}`
  const order = isDescending ? sql`n.created_at desc, n.id desc` : sql`n.created_at, n.id`
  const [counted] = await sql<{ total: number }[]>`
    select count(*)::float8 as total from session n where ${own}`
  const signIns = await sql<SignIn[]>`
    select n.account_id as "accountId", coalesce(a.email, a.username) as login, n.address,
      n.created_at as at, (
        select jsonb_build_object('id', k.id, 'name', k.name)
        from client_session c join api_key k on k.id = c.api_key_id
        where c.session_id = n.id limit 1) as key
    from session n join account a on a.id = n.account_id
    where ${own}
    order by ${order} limit ${limit} offset ${offset}`
  return { signIns: [...signIns], total: counted!.total }
}
