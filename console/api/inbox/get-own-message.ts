import { queryOptions } from '@tanstack/react-query'
import type { InboxMessage } from '#read-api/contract/message.ts'
import { request } from '../request.ts'
import { inboxKey } from './list-inbox.ts'

/** One of one's own messages; 404 when it went to others, is deleted or never was. */
export const ownMessageQuery = (id: number) =>
  queryOptions({
    queryKey: [...inboxKey, 'one', id],
    queryFn: async ({ signal }) =>
      (await request<InboxMessage>({ path: `/api/user/messages/${id}`, signal })).data,
  })
