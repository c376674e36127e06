import { queryOptions } from '@tanstack/react-query'
import type { OptionsSchema } from '#read-api/contract/option.ts'
import { request } from '../request.ts'

/** Which options there are and how they are typed; another one only with another release. */
export const optionSchemaQuery = queryOptions({
  queryKey: ['option-schema'],
  queryFn: async ({ signal }): Promise<OptionsSchema> => {
    const { data } = await request<OptionsSchema>({ path: '/api/option/schema', signal })
    return data
  },
  staleTime: Number.POSITIVE_INFINITY,
})
