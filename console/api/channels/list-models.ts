import { queryOptions } from '@tanstack/react-query'
import type { ModelEntry } from '#read-api/contract/channel.ts'
import { request } from '../request.ts'

/** The model names the server knows of, to fill a channel's list with. */
export const knownModelsQuery = queryOptions({
  queryKey: ['known-models'],
  queryFn: async ({ signal }) => {
    const { data } = await request<ModelEntry[]>({ path: '/api/channel/models', signal })
    return data.map(({ id }) => id)
  },
})

/** The models that at least one enabled channel serves. */
export const enabledModelsQuery = queryOptions({
  queryKey: ['enabled-models'],
  queryFn: async ({ signal }) =>
    (await request<string[]>({ path: '/api/channel/models_enabled', signal })).data,
})
