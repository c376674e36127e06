import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useTranslation } from 'react-i18next'
import { type MessagePage, messagesKey } from '#console/api/messages/list-messages.ts'
import { request } from '#console/api/request.ts'
import { confirm } from '#console/ui/confirm.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import type { AdminMessage } from '#read-api/contract/message.ts'

/** Asks first; then the row goes at once, and the total is one less. */
export function useDeleteMessage(): (message: AdminMessage) => Promise<void> {
  const { t } = useTranslation()
  const client = useQueryClient()
  return useCallback(
    async ({ id }) => {
      const words = { title: t('messages.deleteTitle'), body: t('messages.deleteBody') }
      if (!(await confirm({ ...words, confirmText: t('messages.delete'), tone: 'danger' }))) return
      try {
        await deleteMessage(id)
        const lists = { queryKey: [...messagesKey, 'list'] }
        client.setQueriesData<MessagePage>(lists, (page) => without(page, id))
        showSuccess(t('messages.deleted'))
      } catch (error) {
        showError(error)
      }
      void client.invalidateQueries({ queryKey: messagesKey })
    },
    [client, t],
  )
}

const without = (page: MessagePage | undefined, id: number): MessagePage | undefined =>
  page?.items.some((row) => row.id === id) === true
    ? { ...page, items: page.items.filter((row) => row.id !== id), total: page.total - 1 }
    : page

/** For good: out of every inbox too. */
async function deleteMessage(id: number): Promise<void> {
  await request({ method: 'DELETE', path: `/api/admin/messages/${id}` })
}
