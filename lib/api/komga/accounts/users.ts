// Users of the Komga-compatible API: the caller's own account.
import { findUser } from '../../../auth/user-record.ts'
import { route } from '../../../http/route.ts'
import { ageRestrictionOf, emailOf, rolesOf, UserDto } from './user-dto.ts'

export const users = [
  route({
    operationId: 'getCurrentUser',
    method: 'GET',
    path: '/api/v2/users/me',
    atRoot: true,
    aliases: [{ path: '/api/v1/users/me' }],
    permission: 'auth',
    summary: 'The caller',
    responses: { 200: UserDto },
    async handle({ identity }, { sql }) {
      const user = await findUser(sql, identity.account.id)
      const { libraryIds, sharingTags } = user
      const tags = (mode: string) =>
        sharingTags.filter(rule => rule.accessMode === mode).map(rule => rule.sharingTagName)
      return {
        id: user.id,
        email: emailOf(user),
        roles: rolesOf(identity.permissions),
        sharedAllLibraries: libraryIds === null,
        sharedLibrariesIds: libraryIds ?? [],
        labelsAllow: tags('allow'),
        labelsExclude: tags('deny'),
        ageRestriction: ageRestrictionOf(user),
      }
    },
  }),
]
