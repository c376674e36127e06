import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { messagesKey } from '#console/api/messages.ts'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useLeaveGuard } from '#console/ui/forms/use-leave-guard.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import {
  type Chosen,
  type MessageFault,
  type MessageText,
  NO_TEXT,
  NOBODY,
  newMessage,
  recipientFaults,
  textFaults,
} from './message-draft.ts'
import { TextFields } from './message-text-fields.tsx'
import { RecipientFields } from './recipient-fields.tsx'

/** Writes and sends a message. Each opening mounts the form again with empty fields. */
export function CreateDrawer(props: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = useDraftForm<MessageText & Chosen, MessageFault>({
    initial: () => ({ ...NO_TEXT, ...NOBODY }),
    validate: (draft) => ({ ...textFaults(draft), ...recipientFaults(draft) }),
    faultText: (fault) => t(`messages.${fault}`),
    save: async (draft) => {
      const { total_recipients: count } = await call('POST /api/admin/messages', {
        body: newMessage(draft),
      })
      showSuccess(t('messages.sent', { count }), { goesAlong: true })
      props.onClose()
      await client.invalidateQueries({ queryKey: messagesKey })
    },
    onRepeat: props.onClose,
  })
  useLeaveGuard(props.isOpen && form.isChanged)
  return (
    <FormDrawer
      isOpen={props.isOpen}
      title={t('messages.create')}
      lead={t('messages.createLead')}
      submitText={t('words.send')}
      form={form}
      onClose={props.onClose}
    >
      <TextFields form={form} />
      <RecipientFields form={form} />
    </FormDrawer>
  )
}
