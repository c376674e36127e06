import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Recipient } from '#read-api/contract/message.ts'
import { request } from '../request.ts'
import { messagesKey } from './list-messages.ts'

export type RecipientPage = { items: Recipient[]; page: number; total: number }

/** To whom a message went, and who has read it, for admins. `page` counts from 0. */
export const recipientsQuery = (id: number, page: number, pageSize: number) =>
  queryOptions({
    queryKey: [...messagesKey, 'recipients', id, page, pageSize],
    queryFn: async ({ signal }) => {
      const path = `/api/admin/messages/${id}/recipients`
      const query = { p: page, page_size: pageSize }
      return (await request<RecipientPage>({ path, query, signal })).data
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
