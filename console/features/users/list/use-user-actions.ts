import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import type { ListPage } from '#console/api/request.ts'
import { usersKey } from '#console/api/user-queries.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import type { User } from '#read-api/contract/users.ts'
import type { ManageUser } from '#write-api/contract/users.ts'
import { displayNameOf } from '../user-state-and-permitted-actions.ts'

export type UserActions = {
  /** Enables or disables a user without asking for confirmation, and offers an undo. */
  setEnabled: (user: User, isEnabled: boolean) => Promise<void>
  manage: (user: User, action: 'promote' | 'appoint_auditor' | 'demote' | 'delete') => Promise<void>
}

export function useUserActions(): UserActions {
  const { t } = useTranslation()
  const client = useQueryClient()
  /** Performs an action and then reads the list again, even if the action failed. */
  const perform = async (user: User, action: ManageUser['action']): Promise<User | null> => {
    await client.cancelQueries({ queryKey: usersKey })
    try {
      const updated = {
        ...user,
        ...(await call('POST /api/user/manage', { body: { id: user.id, action } })),
      }
      client.setQueriesData<ListPage<User>>({ queryKey: usersKey }, (page) =>
        withUser(page, updated),
      )
      return updated
    } catch (error) {
      showError(error)
      return null
    } finally {
      void client.invalidateQueries({ queryKey: usersKey })
    }
  }
  const setEnabled = async (user: User, isEnabled: boolean): Promise<void> => {
    const updated = await perform(user, isEnabled ? 'enable' : 'disable')
    if (updated === null) return
    const undo = { text: t('shared.undo'), onClick: () => void setEnabled(updated, !isEnabled) }
    showSuccess(t('users.done'), { action: undo })
  }
  const manage: UserActions['manage'] = async (user, action) => {
    const texts = {
      title: t(`users.${action}Title`, { name: displayNameOf(user) }),
      body: t(`users.${action}Body`),
      confirmText: t(`users.${action}`),
    }
    const tone = action === 'delete' ? 'danger' : 'primary'
    if (!(await confirm({ ...texts, tone }))) return
    if ((await perform(user, action)) !== null) showSuccess(t('users.done'))
  }
  return { setEnabled, manage }
}

const withUser = (page: ListPage<User> | undefined, user: User): ListPage<User> | undefined =>
  page === undefined
    ? undefined
    : { ...page, items: page.items.map((row) => (row.id === user.id ? user : row)) }
