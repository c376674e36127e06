import { queryOptions } from '@tanstack/react-query'
import { request } from '../request.ts'

/** The names of the models that one may call. */
export const usableModelsQuery = queryOptions({
  queryKey: ['usable-models'],
  queryFn: async ({ signal }) =>
    (await request<string[]>({ path: '/api/user/models', signal })).data,
})
