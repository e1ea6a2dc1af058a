// Changes of an account by an administrator.
import { api, type Schemas } from '../api/client.ts'

/** Throws ApiError. */
export async function updateUser(id: string, body: Schemas['UserUpdate']): Promise<void> {
  await api.PATCH('/api/v1/users/{id}', { params: { path: { id } }, body })
}
