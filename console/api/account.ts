import { apiQuery } from './client.ts'

/** The user's account, with profile, balance and settings. */
export const selfQuery = apiQuery('GET /api/user/self')
export const selfKey = selfQuery.queryKey

/** The names of all groups; for admins. */
export const groupsQuery = apiQuery('GET /api/group/')

/** The groups that users may give to their tokens, with description and ratio. */
export const usableGroupsQuery = apiQuery('GET /api/user/self/groups')

/** The names of the models that the user may call. */
export const usableModelsQuery = apiQuery('GET /api/user/models')

/** The models that the user may call and that support chat. */
export const chatModelsQuery = apiQuery('GET /api/user/models', { query: { chat: true } })

/** The chat models that calls with this group reach. */
export const chatModelsOfGroup = (group: string) => ({
  ...apiQuery('GET /api/user/models', { query: { chat: true, group } }),
  enabled: group !== '',
})

/** The login methods of the user beside the password. */
export const securityQuery = apiQuery('GET /api/user/security')
