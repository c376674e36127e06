import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Navigate } from 'react-router-dom'
import { isAdmin, useUser } from '#console/api/session.ts'
import { type Edited, useDrawerAddress } from '#console/ui/dialogs/use-drawer-address.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { CreateDrawer } from './create-drawer.tsx'
import { EditDrawer } from './edit-drawer.tsx'
import { MessageList } from './message-list.tsx'
import '#console/ui/forms/forms.css'
import './messages.css'

/** Shows admins the messages that admins have sent to users. */
export function MessagesPage(): ReactElement {
  return isAdmin(useUser()) ? <Messages /> : <Navigate to="/" replace />
}

const AT = {
  list: '/admin/messages',
  add: '/admin/messages/new',
  edit: '/admin/messages/edit',
}

function Messages(): ReactElement {
  const { t } = useTranslation()
  const { edited, open, close } = useDrawerAddress(AT)
  const { shown, isOpen, opening } = useShown(edited)
  const create = () => open('new')
  return (
    <Page
      title={t('messages.title')}
      lead={t('messages.lead')}
      actions={
        <Button tone="primary" icon="add" onClick={create}>
          {t('messages.create')}
        </Button>
      }
    >
      <MessageList onEdit={({ id }) => open(id)} onCreate={create} />
      {shown === 'new' && <CreateDrawer key={opening} isOpen={isOpen} onClose={close} />}
      {typeof shown === 'number' && (
        <EditDrawer key={opening} isOpen={isOpen} id={shown} onClose={close} />
      )}
    </Page>
  )
}

type Shown = { readonly shown: Edited; readonly isOpen: boolean; readonly opening: number }

/**
 * Keeps the content of a drawer while the drawer closes. `opening` counts the openings and is the
 * drawer's React key, so that each opening resets the drawer.
 */
function useShown(edited: Edited): Shown {
  const [now, setNow] = useState<Shown>({ shown: null, isOpen: false, opening: 0 })
  const isOther = edited !== null && (!now.isOpen || now.shown !== edited)
  const next = isOther
    ? { shown: edited, isOpen: true, opening: now.opening + 1 }
    : edited === null && now.isOpen
      ? { ...now, isOpen: false }
      : now
  if (next !== now) setNow(next)
  return next
}
