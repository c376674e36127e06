import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { messagesKey } from '#console/api/messages.ts'
import { FormDrawer } from '#console/ui/form-drawer.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useLeaveGuard } from '#console/ui/use-leave-guard.ts'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'
import {
  type Chosen,
  isSameText,
  type MessageFaults,
  type MessageText,
  NO_TEXT,
  NOBODY,
  newMessage,
  recipientFaults,
  textFaults,
} from './message-draft.ts'
import { RecipientFields } from './recipient-fields.tsx'
import { TextFields } from './text-fields.tsx'

/** Writes a message and sends it. Mounted anew each time, so no draft is left over. */
export function CreateDrawer(props: { isOpen: boolean; onClose: () => void }): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = useRef<HTMLFormElement>(null)
  const [text, setText] = useState<MessageText>(NO_TEXT)
  const [chosen, setChosen] = useState<Chosen>(NOBODY)
  const [faults, setFaults] = useState<MessageFaults>({})
  const hasFaults = Object.keys(faults).length > 0
  const { isBusy, submit } = useSubmit(async () => {
    const found = { ...textFaults(text), ...recipientFaults(chosen) }
    setFaults(found)
    if (Object.keys(found).length > 0) return focusFirstFault(form)
    const { total_recipients: count } = await call('POST /api/admin/messages', {
      body: newMessage(text, chosen),
    })
    showSuccess(t('messages.sent', { count }), { goesAlong: true })
    props.onClose()
    await client.invalidateQueries({ queryKey: messagesKey })
  }, props.onClose)
  const changeText = (patch: Partial<MessageText>) => {
    const next = { ...text, ...patch }
    setText(next)
    if (hasFaults) setFaults({ ...textFaults(next), ...recipientFaults(chosen) })
  }
  const choose = (patch: Partial<Chosen>) => {
    const next = { ...chosen, ...patch }
    setChosen(next)
    if (hasFaults) setFaults({ ...textFaults(text), ...recipientFaults(next) })
  }
  const isChanged = !isSameText(text, NO_TEXT) || chosen !== NOBODY
  useLeaveGuard(props.isOpen && isChanged)
  return (
    <FormDrawer
      isOpen={props.isOpen}
      title={t('messages.createTitle')}
      lead={t('messages.createLead')}
      submitText={t('messages.send')}
      form={form}
      isChanged={isChanged}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <TextFields text={text} faults={faults} onChange={changeText} />
      <RecipientFields chosen={chosen} faults={faults} onChange={choose} />
    </FormDrawer>
  )
}
