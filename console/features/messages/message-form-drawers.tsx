import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery, call } from '#console/api/client.ts'
import { messagesKey } from '#console/api/message-queries.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { LabelledValues } from '#console/ui/elements/labelled-value.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { bodyOf, draftOf } from '#console/ui/forms/resource-draft.ts'
import { type FieldErrors, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useFirstVersion } from '#console/ui/forms/use-first-version.ts'
import { useLeaveGuard } from '#console/ui/forms/use-leave-guard.ts'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { MESSAGE_TERMS } from '#read-api/contract/message-fields.ts'
import type { AdminMessage } from '#read-api/contract/messages.ts'
import {
  type MessageErrorKey,
  type MessageText,
  MessageTextFields,
  NO_RECIPIENTS,
  NO_TEXT,
  newMessage,
  type Recipients,
  validateRecipients,
  validateText,
} from './message-draft-and-text-fields.tsx'
import { RecipientFields } from './recipient-fields.tsx'
import { RecipientTable } from './recipient-table.tsx'

type Props = { isOpen: boolean; onClose: () => void }

/**
 * The form for editing a message. The complete message is read from the server, because the list
 * contains only the beginning of each message.
 */
export function EditMessageDrawer(props: Props & { id: number }) {
  const { t } = useTranslation()
  const { id, isOpen, onClose } = props
  const read = useQuery({ ...messageQuery(id), enabled: isOpen && id !== 0, retry: false })
  const message = useFirstVersion(read)
  if (message !== null) {
    return <EditForm {...props} message={message} latest={read.data ?? message} />
  }
  return (
    <Drawer
      isOpen={isOpen}
      isWide
      title={t('messages.open')}
      lead={t('messages.editLead')}
      onClose={onClose}
    >
      {read.error !== null || id === 0 ? (
        <ErrorState
          error={read.error ?? new Error(t('shared.messageNotFound'))}
          {...(id === 0 ? {} : { onRetry: () => void read.refetch() })}
        />
      ) : (
        <Skeleton height={320} />
      )}
    </Drawer>
  )
}

/**
 * The form with the message. `message` is the version that the form opened with, and `latest` is
 * the version that was last read from the server.
 */
function EditForm(props: Props & { message: AdminMessage; latest: AdminMessage }) {
  const { t } = useTranslation()
  const { message } = props
  const form = useMessageForm<MessageText>(props, {
    initial: () => draftOf(MESSAGE_TERMS, message),
    validate: validateText,
    send: async (text) => {
      const input = { params: { id: message.id }, body: bodyOf(MESSAGE_TERMS, text) }
      await call('PUT /api/admin/messages/:id', input)
      return t('messages.updated')
    },
  })
  return (
    <FormDrawer
      isOpen={props.isOpen}
      isWide
      title={t('messages.open')}
      lead={t('messages.editLead')}
      submitText={t('shared.save')}
      form={form}
      onClose={props.onClose}
    >
      <Facts message={props.latest} />
      <MessageTextFields form={form} />
      <RecipientTable messageId={message.id} isOpen={props.isOpen} />
    </FormDrawer>
  )
}

export function CreateMessageDrawer(props: Props) {
  const { t } = useTranslation()
  const form = useMessageForm<MessageText & Recipients>(props, {
    initial: () => ({ ...NO_TEXT, ...NO_RECIPIENTS }),
    validate: (draft) => ({ ...validateText(draft), ...validateRecipients(draft) }),
    send: async (draft) => {
      const sent = await call('POST /api/admin/messages', { body: newMessage(draft) })
      return t('messages.sent', { count: sent.total_recipients })
    },
  })
  return (
    <FormDrawer
      isOpen={props.isOpen}
      title={t('messages.create')}
      lead={t('messages.createLead')}
      submitText={t('shared.send')}
      form={form}
      onClose={props.onClose}
    >
      <MessageTextFields form={form} />
      <RecipientFields form={form} />
    </FormDrawer>
  )
}

type MessageForm<Draft> = {
  initial: () => Draft
  validate: (draft: Draft) => FieldErrors<Draft, MessageErrorKey>
  /**
   * Sends the request that creates or changes the message. Returns the text of the success message.
   */
  send: (draft: Draft) => Promise<string>
}

function useMessageForm<Draft extends object>(drawer: Props, form: MessageForm<Draft>) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const draftForm = useDraftForm<Draft, MessageErrorKey>({
    initial: form.initial,
    validate: form.validate,
    errorText: (errorKey) => t(`messages.${errorKey}`),
    save: async (draft) => {
      showSuccess(await form.send(draft), { staysOnNavigation: true })
      drawer.onClose()
      await client.invalidateQueries({ queryKey: messagesKey })
    },
    onRepeat: drawer.onClose,
  })
  useLeaveGuard(drawer.isOpen && draftForm.isChanged)
  return draftForm
}

function Facts({ message }: { message: AdminMessage }) {
  const { t } = useTranslation()
  const count = useNumberFormat()
  const { id, created_at, stats } = message
  return (
    <LabelledValues
      className="tg-message-facts"
      values={[
        [t('messages.messageId'), `#${id}`],
        [t('shared.created'), stamp(created_at)],
        [t('messages.totalRecipients'), count.format(stats.total_recipients)],
        [t('messages.readCount'), count.format(stats.read_count)],
      ]}
    />
  )
}

const messageQuery = (id: number) => ({
  ...apiQuery('GET /api/admin/messages/:id', { params: { id } }, [...messagesKey, 'one', id]),
  // Reads the message each time it is opened, because recipients may have read it in the meantime.
  staleTime: 0,
})
