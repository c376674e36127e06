import { apiQuery } from './client.ts'

export const selfQuery = apiQuery('GET /api/user/self')
export const selfKey = selfQuery.queryKey

export const groupsQuery = apiQuery('GET /api/group/')

export const usableGroupsQuery = apiQuery('GET /api/user/self/groups')

export const usableModelsQuery = apiQuery('GET /api/user/models')

export const chatModelsQuery = apiQuery('GET /api/user/models', { query: { chat: true } })

export const chatModelsOfGroup = (group: string) => ({
  ...apiQuery('GET /api/user/models', { query: { chat: true, group } }),
  enabled: group !== '',
})

export const credentialsQuery = apiQuery('GET /api/user/security')
