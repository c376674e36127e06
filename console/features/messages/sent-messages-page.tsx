import { useTranslation } from 'react-i18next'
import { Navigate } from 'react-router-dom'
import { isAdmin, useUser } from '#console/api/session.ts'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { useDrawerUrl } from '#console/ui/dialogs/use-drawer-url.ts'
import { CreateButton } from '#console/ui/elements/button.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { CreateMessageDrawer, EditMessageDrawer } from './message-form-drawers.tsx'
import { MessageList } from './message-list.tsx'
import '#console/ui/forms/forms.css'
import './messages.css'

export function MessagesPage() {
  return isAdmin(useUser()) ? <Messages /> : <Navigate to="/" replace />
}

const PATHS = { list: '/admin/messages', add: '/admin/messages/new', edit: '/admin/messages/edit' }

function Messages() {
  const { t } = useTranslation()
  const { edited, open, close } = useDrawerUrl(PATHS)
  const { lastItem, isOpen, key } = useDialogItem(edited)
  const opening = `${lastItem} ${key}`
  const create = () => open('new')
  return (
    <Page
      title={t('shell.messages')}
      lead={t('messages.lead')}
      actions={<CreateButton text={t('messages.create')} onClick={create} />}
    >
      <MessageList onEdit={({ id }) => open(id)} onCreate={create} />
      {lastItem === 'new' && <CreateMessageDrawer key={opening} isOpen={isOpen} onClose={close} />}
      {typeof lastItem === 'number' && (
        <EditMessageDrawer key={opening} isOpen={isOpen} id={lastItem} onClose={close} />
      )}
    </Page>
  )
}
