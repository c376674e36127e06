import { useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { eraseUser } from '#console/api/users/erase-user.ts'
import { usersKey } from '#console/api/users/list-users.ts'
import { showSuccess } from '#console/ui/toast.ts'
import type { User } from '#read-api/contract/user.ts'
import { calledOf } from '../user-actions.ts'
import { DangerPart } from './danger-part.tsx'

/** What a super admin may do when the law, or the user, asks for it. There is no way back. */
export function EraseUser(props: { user: User; onDone: () => void }): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { user } = props
  const erase = async () => {
    await eraseUser({ id: user.id, username: user.username })
    await client.invalidateQueries({ queryKey: usersKey })
    showSuccess(t('users.erased'), { goesAlong: true })
    props.onDone()
  }
  return (
    <DangerPart
      user={user}
      icon="trash"
      name={t('users.erase')}
      hint={t('users.eraseHint')}
      openText={t('users.eraseOpen')}
      title={t('users.eraseTitle', { name: calledOf(user) })}
      body={t('users.eraseBody')}
      actionText={t('users.eraseAction')}
      act={erase}
    />
  )
}
