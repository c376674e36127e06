import { queryOptions } from '@tanstack/react-query'
import { listLogs } from './list-logs.ts'
import { logsKey } from './log-query.ts'

const ADMIN_TYPE = 3
const SHOWN = 5

/** The last changes of quota and group by hand, newest first: when, by whom, why. For admins. */
export const quotaChangesQuery = (username: string) =>
  queryOptions({
    queryKey: [...logsKey, 'by-hand', username],
    queryFn: async ({ signal }) => {
      const params = { type: ADMIN_TYPE, username }
      return (await listLogs({ scope: 'all', params, page: 0, pageSize: SHOWN, signal })).items
    },
    staleTime: 0,
  })
