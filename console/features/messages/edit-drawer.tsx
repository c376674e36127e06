import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, call } from '#console/api/client.ts'
import { messagesKey } from '#console/api/messages.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { Fact } from '#console/ui/elements/labelled-value.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useLeaveGuard } from '#console/ui/forms/use-leave-guard.ts'
import { ErrorState } from '#console/ui/layout/empty-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { AdminMessage } from '#read-api/contract/messages.ts'
import { type MessageFault, type MessageText, textFaults, trimmed } from './message-draft.ts'
import { TextFields } from './message-text-fields.tsx'
import { RecipientTable } from './recipient-table.tsx'

const WIDTH = 900

type Props = { isOpen: boolean; onClose: () => void }

/** Loads the complete message, because the message list contains only the start of each text. */
export function EditDrawer(props: Props & { id: number }) {
  const { t } = useTranslation()
  const { id, isOpen, onClose } = props
  const read = useQuery({ ...messageQuery(id), enabled: isOpen && id !== 0, retry: false })
  // The first version that was loaded after the drawer opened. Later versions do not change the
  // form.
  const [message, setMessage] = useState<AdminMessage | null>(null)
  if (message === null && read.data !== undefined && read.isFetchedAfterMount) {
    setMessage(read.data)
  }
  if (message !== null) {
    return <EditForm {...props} message={message} now={read.data ?? message} />
  }
  return (
    <Drawer
      isOpen={isOpen}
      width={WIDTH}
      title={t('messages.open')}
      lead={t('messages.editLead')}
      onClose={onClose}
    >
      {read.error !== null || id === 0 ? (
        <ErrorState
          error={read.error ?? new Error(t('messages.unknown'))}
          {...(id === 0 ? {} : { onRetry: () => void read.refetch() })}
        />
      ) : (
        <Skeleton height={320} />
      )}
    </Drawer>
  )
}

/**
 * Edits a message and shows who has read it. `message` is the version that was loaded first, and
 * `now` is the latest version.
 */
function EditForm(props: Props & { message: AdminMessage; now: AdminMessage }) {
  const { t } = useTranslation()
  const { message } = props
  const client = useQueryClient()
  const form = useDraftForm<MessageText, MessageFault>({
    initial: () => textOf(message),
    validate: textFaults,
    faultText: (fault) => t(`messages.${fault}`),
    save: async (text) => {
      await call('PUT /api/admin/messages/:id', {
        params: { id: message.id },
        body: trimmed(text),
      })
      showSuccess(t('messages.updated'), { goesAlong: true })
      props.onClose()
      await client.invalidateQueries({ queryKey: messagesKey })
    },
    onRepeat: props.onClose,
  })
  useLeaveGuard(props.isOpen && form.isChanged)
  return (
    <FormDrawer
      isOpen={props.isOpen}
      width={WIDTH}
      title={t('messages.open')}
      lead={t('messages.editLead')}
      submitText={t('words.save')}
      form={form}
      onClose={props.onClose}
    >
      <Facts message={props.now} />
      <TextFields form={form} />
      <RecipientTable messageId={message.id} isOpen={props.isOpen} />
    </FormDrawer>
  )
}

const textOf = ({ title, content, format }: AdminMessage): MessageText => ({
  title,
  content,
  format,
})

function Facts({ message }: { message: AdminMessage }) {
  const { t } = useTranslation()
  const count = useNumberFormat()
  const { id, created_at, stats } = message
  return (
    <dl className="tg-message-facts">
      <Fact name={t('messages.messageId')}>#{id}</Fact>
      <Fact name={t('words.created')}>{stamp(created_at)}</Fact>
      <Fact name={t('messages.totalRecipients')}>{count.format(stats.total_recipients)}</Fact>
      <Fact name={t('messages.readCount')}>{count.format(stats.read_count)}</Fact>
    </dl>
  )
}

/** Reads a message and the number of users who have read it. Admins only. */
const messageQuery = (id: number) => ({
  ...apiQuery('GET /api/admin/messages/:id', { params: { id } }, [...messagesKey, 'one', id]),
  // The message is read on each opening, because recipients may read the message at any time.
  staleTime: 0,
})
