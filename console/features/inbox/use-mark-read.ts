import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { inboxKey } from '#console/api/inbox/list-inbox.ts'
import { markRead } from '#console/api/inbox/mark-read.ts'
import { unreadKey } from '#console/api/inbox/unread-count.ts'
import type { InboxMessage } from '#read-api/contract/message.ts'

/** Marks a message read once it is shown. The badge moves at once, and back where that failed. */
export function useMarkRead(message: InboxMessage | undefined): void {
  const client = useQueryClient()
  const marked = useRef(0)
  const id = message === undefined || message.is_read ? 0 : message.id
  useEffect(() => {
    if (id === 0 || marked.current === id) return
    marked.current = id
    client.setQueryData<number>(unreadKey, (count) => Math.max(0, (count ?? 1) - 1))
    void markRead(id)
      .catch((error: unknown) => console.warn('the message could not be marked read', error))
      .finally(() => {
        void client.invalidateQueries({ queryKey: inboxKey })
        void client.invalidateQueries({ queryKey: unreadKey })
      })
  }, [id, client])
}
