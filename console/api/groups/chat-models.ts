import { queryOptions } from '@tanstack/react-query'
import { request } from '../request.ts'

/** Of the models that one may call, those that chat: the others draw or compose alone. */
export const chatModelsQuery = queryOptions({
  queryKey: ['usable-models', 'chat'],
  queryFn: async ({ signal }) =>
    (await request<string[]>({ path: '/api/user/models?chat=true', signal })).data,
})

/** Those of them that calls with this group reach. */
export const chatModelsOfGroup = (group: string) =>
  queryOptions({
    queryKey: ['usable-models', 'chat', group],
    queryFn: async ({ signal }) => {
      const path = `/api/user/models?chat=true&group=${encodeURIComponent(group)}`
      return (await request<string[]>({ path, signal })).data
    },
    enabled: group !== '',
  })
