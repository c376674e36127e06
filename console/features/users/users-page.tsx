import { type ReactElement, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { isAdmin } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { AdminsOnlyPage } from '#console/ui/admins-only-page.tsx'
import { Button } from '#console/ui/button.tsx'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Page } from '#console/ui/page.tsx'
import { Panel } from '#console/ui/panel.tsx'
import type { User } from '#read-api/contract/user.ts'
import { UserDrawer } from './form/user-drawer.tsx'
import { useUserList } from './list/use-user-list.ts'
import { UserList } from './list/user-list.tsx'
import { SelfDrawer } from './self-drawer.tsx'
import { useDrawerAddress } from './use-drawer-address.ts'
import '#console/ui/forms.css'
import './users.css'

/** The users of the site, for admins; and one's own form at `/user/edit`, for everybody. */
export function UsersPage(): ReactElement {
  return isAdmin(useUser()) ? <Users /> : <OwnForm />
}

function OwnForm(): ReactElement {
  const { t } = useTranslation()
  const { edited, close } = useDrawerAddress('/app/me')
  return (
    <>
      {edited === 'self' ? (
        <Page title={t('users.selfTitle')}>{null}</Page>
      ) : (
        <AdminsOnlyPage title={t('users.title')} />
      )}
      <SelfDrawer key={String(edited)} isOpen={edited === 'self'} onClose={close} />
    </>
  )
}

function Users(): ReactElement {
  const { t } = useTranslation()
  const { id = 0, role = 1 } = useUser() ?? {}
  const actor = useMemo(() => ({ id, role }), [id, role])
  const drawer = useDrawerAddress('/admin/users')
  const { open } = drawer
  const [isCreating, setCreating] = useState(false)
  const view = useUserList()
  const create = () => setCreating(true)
  const openUser = (user: User) => open(user.id === id && role < ROOT ? 'self' : user.id)
  const { error } = view.list
  const isForbidden = error instanceof ApiError && error.status === 403
  const edited = typeof drawer.edited === 'number' ? drawer.edited : null
  const close = () => (isCreating ? setCreating(false) : drawer.close())
  return (
    <Page
      title={t('users.title')}
      lead={t('users.pageLead')}
      actions={
        isForbidden ? undefined : (
          <Button tone="primary" icon="add" onClick={create}>
            {t('users.create')}
          </Button>
        )
      }
    >
      {isForbidden ? (
        <Panel>
          <ErrorState error={error} />
        </Panel>
      ) : (
        <UserList view={view} actor={actor} onOpen={openUser} onCreate={create} />
      )}
      <UserDrawer
        edited={isForbidden ? null : isCreating ? 'new' : edited}
        actor={actor}
        onClose={close}
      />
      <SelfDrawer
        key={String(drawer.edited === 'self')}
        isOpen={drawer.edited === 'self'}
        onClose={drawer.close}
      />
    </Page>
  )
}

/** Nobody is above a super admin, who may set the own quota too. */
const ROOT = 100
