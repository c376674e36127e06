import { queryOptions } from '@tanstack/react-query'
import type { AdminMessage } from '#read-api/contract/message.ts'
import { request } from '../request.ts'
import { messagesKey } from './list-messages.ts'

/** One message with how many have read it, for admins. */
export const messageQuery = (id: number) =>
  queryOptions({
    queryKey: [...messagesKey, 'one', id],
    queryFn: async ({ signal }) =>
      (await request<AdminMessage>({ path: `/api/admin/messages/${id}`, signal })).data,
    // Somebody reads it any moment.
    staleTime: 0,
  })
