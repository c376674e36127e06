import { queryOptions } from '@tanstack/react-query'
import { readSelf, selfKey } from '../dashboard/self.ts'

/** One's own account, with profile, balance and settings. */
export const selfQuery = queryOptions({
  queryKey: selfKey,
  queryFn: ({ signal }) => readSelf({ signal }),
})
