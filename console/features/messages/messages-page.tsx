import { type ReactElement, useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Navigate } from 'react-router-dom'
import { isAdmin } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { Button } from '#console/ui/button.tsx'
import { Page } from '#console/ui/page.tsx'
import type { AdminMessage } from '#read-api/contract/message.ts'
import { CreateDrawer } from './create-drawer.tsx'
import { EditDrawer } from './edit-drawer.tsx'
import { MessageList } from './message-list.tsx'
import { useMessageList } from './use-message-list.ts'
import '#console/ui/forms.css'
import './messages.css'

/** What admins tell users. Nobody else has business here. */
export function MessagesPage(): ReactElement {
  return isAdmin(useUser()) ? <Messages /> : <Navigate to="/" replace />
}

/** `opening` counts: a drawer that is opened again starts anew, and fades out as it was. */
type Shown = { readonly kind: 'new' | 'edit'; readonly isOpen: boolean; readonly opening: number }

function Messages(): ReactElement {
  const { t } = useTranslation()
  const view = useMessageList()
  const [shown, setShown] = useState<Shown>({ kind: 'new', isOpen: false, opening: 0 })
  const [edited, setEdited] = useState<AdminMessage | null>(null)
  const open = useCallback(
    (kind: Shown['kind']) =>
      setShown(({ opening }) => ({ kind, isOpen: true, opening: opening + 1 })),
    [],
  )
  const close = () => setShown((before) => ({ ...before, isOpen: false }))
  const create = () => open('new')
  const edit = useCallback(
    (message: AdminMessage) => {
      setEdited(message)
      open('edit')
    },
    [open],
  )
  const isOpen = (kind: Shown['kind']) => shown.isOpen && shown.kind === kind
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
      <MessageList view={view} onEdit={edit} onCreate={create} />
      <CreateDrawer key={`new ${shown.opening}`} isOpen={isOpen('new')} onClose={close} />
      {edited !== null && (
        <EditDrawer
          key={`edit ${shown.opening}`}
          isOpen={isOpen('edit')}
          message={edited}
          onClose={close}
        />
      )}
    </Page>
  )
}
