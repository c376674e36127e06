import { type ReactElement, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import type { User } from '#read-api/contract/user.ts'
import { calledOf } from '../user-actions.ts'
import { AdjustFields } from './adjust-fields.tsx'
import { BalanceTable } from './balance-table.tsx'
import { useAdjustment } from './use-adjustment.ts'

type DialogProps = {
  /** Empty: the dialog is closed. */
  users: readonly User[]
  onClose: () => void
}

/** Adds an amount to the balance of one user or of several, or deducts it, with a reason. */
export function AdjustDialog(props: DialogProps): ReactElement | null {
  const openings = useRef({ count: 0, isOpen: false, last: props.users })
  const isOpen = props.users.length > 0
  const { current } = openings
  if (isOpen && !current.isOpen) current.count += 1
  current.isOpen = isOpen
  // What was chosen stays on screen while the dialog closes.
  if (isOpen) current.last = props.users
  if (current.last.length === 0) return null
  return (
    <OpenDialog key={current.count} isOpen={isOpen} users={current.last} onClose={props.onClose} />
  )
}

function OpenDialog(props: DialogProps & { isOpen: boolean }): ReactElement {
  const { t } = useTranslation()
  const { users } = props
  const form = useAdjustment(props)
  const [one] = users
  const title =
    users.length === 1 && one !== undefined
      ? t('users.adjustTitle', { name: calledOf(one) })
      : t('users.adjustManyTitle', { count: users.length })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={title}
      submitText={t(`users.adjustAction.${form.draft.action}`)}
      isBusy={form.isBusy}
      onSubmit={() => void form.submit()}
      onClose={props.onClose}
    >
      <AdjustFields form={form} />
      <BalanceTable form={form} />
    </FormDialog>
  )
}
