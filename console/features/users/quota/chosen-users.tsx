import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import type { User } from '#read-api/contract/users.ts'
import type { ChosenUsers as Chosen } from './use-chosen-users.ts'

/** What can be done to the selected users; nothing is shown while none is selected. */
export function ChosenUsers(props: {
  chosen: Chosen
  onAdjust: (users: readonly User[]) => void
}): ReactElement | null {
  const { t } = useTranslation()
  const { picked, adjustable, chooseNone } = props.chosen
  if (picked.length === 0) return null
  const beyond = picked.length - adjustable.length
  return (
    <fieldset className="tg-chosen tg-user-chosen" aria-label={t('users.chosenLabel')}>
      <span role="status">
        {t('users.chosen', { count: picked.length })}
        {beyond > 0 && ` · ${t('users.chosenBeyond', { count: beyond })}`}
      </span>
      <Button tone="quiet" size="small" onClick={chooseNone}>
        {t('users.chooseNone')}
      </Button>
      <Button
        size="small"
        icon="wallet"
        isDisabled={adjustable.length === 0}
        onClick={() => props.onAdjust(adjustable)}
      >
        {t('users.adjust')}
      </Button>
    </fieldset>
  )
}
