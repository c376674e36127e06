import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { resetSecondFactor } from '#console/api/users/reset-second-factor.ts'
import { showSuccess } from '#console/ui/toast.ts'
import type { User } from '#read-api/contract/user.ts'
import { calledOf } from '../user-acts.ts'
import { DangerPart } from './danger-part.tsx'

/** For a user who has lost the app, the passkeys and the recovery codes. */
export function ResetFactor({ user }: { user: User }): ReactElement {
  const { t } = useTranslation()
  return (
    <DangerPart
      user={user}
      icon="key"
      name={t('users.factor')}
      hint={t('users.factorHint')}
      openText={t('users.factorOpen')}
      title={t('users.factorTitle', { name: calledOf(user) })}
      body={t('users.factorBody')}
      actionText={t('users.factorAction')}
      act={async () => {
        await resetSecondFactor({ id: user.id })
        showSuccess(t('users.factorDone'))
      }}
    />
  )
}
