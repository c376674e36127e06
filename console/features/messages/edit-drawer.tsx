import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { messageQuery } from '#console/api/messages/get-message.ts'
import { messagesKey } from '#console/api/messages/list-messages.ts'
import { updateMessage } from '#console/api/messages/update-message.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { FormDrawer } from '#console/ui/form-drawer.tsx'
import { Time } from '#console/ui/time.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'
import type { AdminMessage } from '#read-api/contract/message.ts'
import {
  isSameText,
  type MessageFaults,
  type MessageText,
  textFaults,
  trimmed,
} from './message-draft.ts'
import { RecipientTable } from './recipient-table.tsx'
import { TextFields } from './text-fields.tsx'

const WIDTH = 900

/** A message as it is, its text to be changed, and who has read it. */
export function EditDrawer(props: {
  isOpen: boolean
  message: AdminMessage
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { message } = props
  const client = useQueryClient()
  const form = useRef<HTMLFormElement>(null)
  const [before] = useState<MessageText>(() => textOf(message))
  const [text, setText] = useState(before)
  const [faults, setFaults] = useState<MessageFaults>({})
  const { isBusy, submit } = useSubmit(async () => {
    const found = textFaults(text)
    setFaults(found)
    if (Object.keys(found).length > 0) return focusFirstFault(form)
    await updateMessage(message.id, trimmed(text))
    showSuccess(t('messages.updated'))
    props.onClose()
    await client.invalidateQueries({ queryKey: messagesKey })
  }, props.onClose)
  const change = (patch: Partial<MessageText>) => {
    const next = { ...text, ...patch }
    setText(next)
    if (Object.keys(faults).length > 0) setFaults(textFaults(next))
  }
  return (
    <FormDrawer
      isOpen={props.isOpen}
      width={WIDTH}
      title={t('messages.editTitle')}
      lead={t('messages.editLead')}
      submitText={t('messages.save')}
      form={form}
      isChanged={!isSameText(text, before)}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <Facts message={message} isOpen={props.isOpen} />
      <TextFields text={text} faults={faults} onChange={change} />
      <RecipientTable messageId={message.id} isOpen={props.isOpen} />
    </FormDrawer>
  )
}

const textOf = ({ title, content, format }: AdminMessage): MessageText => ({
  title,
  content,
  format,
})

/** Counted as it is opened: the row in the list may be older. */
function Facts(props: { message: AdminMessage; isOpen: boolean }): ReactElement {
  const { t } = useTranslation()
  const count = useNumberFormat()
  const { data } = useQuery({ ...messageQuery(props.message.id), enabled: props.isOpen })
  const { id, created_at, stats } = data ?? props.message
  return (
    <dl className="tg-message-facts">
      <div>
        <dt>{t('messages.messageId')}</dt>
        <dd>#{id}</dd>
      </div>
      <div>
        <dt>{t('messages.created')}</dt>
        <dd>
          <Time at={created_at} style="stamp" />
        </dd>
      </div>
      <div>
        <dt>{t('messages.totalRecipients')}</dt>
        <dd>{count.format(stats.total_recipients)}</dd>
      </div>
      <div>
        <dt>{t('messages.readCount')}</dt>
        <dd>{count.format(stats.read_count)}</dd>
      </div>
    </dl>
  )
}
