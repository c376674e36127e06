import { queryOptions } from '@tanstack/react-query'
import type { UsableGroups } from '#read-api/contract/users.ts'
import { fetchData } from './request.ts'

/** The names of all groups; for admins. */
export const groupsQuery = queryOptions({
  queryKey: ['groups'],
  queryFn: ({ signal }) => fetchData<string[]>({ path: '/api/group/', signal }),
})

/** The groups one may give to one's own tokens, with description and ratio. */
export const usableGroupsQuery = queryOptions({
  queryKey: ['usable-groups'],
  queryFn: ({ signal }) => fetchData<UsableGroups>({ path: '/api/user/self/groups', signal }),
})

/** The names of the models that one may call. */
export const usableModelsQuery = queryOptions({
  queryKey: ['usable-models'],
  queryFn: ({ signal }) => fetchData<string[]>({ path: '/api/user/models', signal }),
})

/** Of the models that one may call, those that chat: the others draw or compose alone. */
export const chatModelsQuery = queryOptions({
  queryKey: ['usable-models', 'chat'],
  queryFn: ({ signal }) => fetchData<string[]>({ path: '/api/user/models?chat=true', signal }),
})

/** Those of them that calls with this group reach. */
export const chatModelsOfGroup = (group: string) =>
  queryOptions({
    queryKey: ['usable-models', 'chat', group],
    queryFn: async ({ signal }) => {
      const path = `/api/user/models?chat=true&group=${encodeURIComponent(group)}`
      return fetchData<string[]>({ path, signal })
    },
    enabled: group !== '',
  })
