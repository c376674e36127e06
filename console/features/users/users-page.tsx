import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { useUser } from '#console/api/session.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { useDrawerUrl } from '#console/ui/dialogs/use-drawer-url.ts'
import { CreateButton } from '#console/ui/elements/button.tsx'
import { adminPage } from '#console/ui/layout/admins-only-page.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { SUPER_ADMIN } from '#read-api/contract/user-roles-and-statuses.ts'
import type { User } from '#read-api/contract/users.ts'
import { UserDrawer } from './form/user-drawer.tsx'
import { UserList, useUserList } from './list/user-list.tsx'
import {
  AdjustmentPreviewTable,
  BalanceAdjustmentFields,
} from './quota/balance-adjustment-fields.tsx'
import { useBalanceAdjustment } from './quota/use-balance-adjustment.ts'
import { displayNameOf } from './user-state-and-permitted-actions.ts'
import '../../ui/forms/forms.css'
import './users.css'

type DialogProps = {
  users: readonly User[]
  onClose: () => void
}

function AdjustDialog(props: DialogProps) {
  const { users, onClose } = props
  const { isOpen, lastItem, key } = useDialogItem(users.length === 0 ? null : users)
  if (lastItem === null) return null
  return <AdjustmentDialog key={key} isOpen={isOpen} users={lastItem} onClose={onClose} />
}

function AdjustmentDialog(props: DialogProps & { isOpen: boolean }) {
  const { t } = useTranslation()
  const { users } = props
  const adjustment = useBalanceAdjustment(props)
  const { form } = adjustment
  const [one] = users
  const title =
    users.length === 1 && one !== undefined
      ? t('users.adjustTitle', { name: displayNameOf(one) })
      : t('users.adjustManyTitle', { count: users.length })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={title}
      submitText={t(`users.adjustAction.${form.draft.action}`)}
      form={form}
      onClose={props.onClose}
    >
      <BalanceAdjustmentFields {...adjustment} />
      <AdjustmentPreviewTable adjustment={adjustment} />
    </FormDialog>
  )
}

export const UsersPage = adminPage('shell.users', Users)

function Users() {
  const { t } = useTranslation()
  const { id = 0, role = 1 } = useUser() ?? {}
  const actor = useMemo(() => ({ id, role }), [id, role])
  const drawer = useDrawerUrl(PATHS)
  const { open, edited } = drawer
  const navigate = useNavigate()
  const [adjusted, setAdjusted] = useState<readonly User[]>([])
  const [isCreating, setCreating] = useState(false)
  const view = useUserList()
  const create = () => setCreating(true)
  const openUser = (user: User) =>
    // Only super admins may change their own quota. Other admins therefore edit themselves on their
    // account page.
    user.id === id && role < SUPER_ADMIN ? void navigate('/user/edit') : open(user.id)
  const { error } = view.list
  const isForbidden = error instanceof ApiError && error.status === 403
  const close = () => (isCreating ? setCreating(false) : drawer.close())
  return (
    <Page
      title={t('shell.users')}
      lead={t('users.pageLead')}
      actions={isForbidden ? undefined : <CreateButton text={t('users.create')} onClick={create} />}
    >
      {isForbidden ? (
        <Panel>
          <ErrorState error={error} />
        </Panel>
      ) : (
        <UserList
          view={view}
          actor={actor}
          onOpen={openUser}
          onAdjust={setAdjusted}
          onCreate={create}
        />
      )}
      <UserDrawer
        edited={isForbidden ? null : isCreating ? 'new' : edited}
        actor={actor}
        onAdjust={setAdjusted}
        onClose={close}
      />
      <AdjustDialog users={adjusted} onClose={() => setAdjusted([])} />
    </Page>
  )
}

const PATHS = { list: '/admin/users', edit: '/user/edit' }
