import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { selfQuery } from '#console/api/account.ts'
import { call } from '#console/api/client.ts'
import { atField, MAIL_CODES } from '#console/ui/at-field.ts'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { MailCodeFields } from '#console/ui/mail-code.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import { proven } from './proven.tsx'

const EMPTY = { email: '', code: '' }
const CODE_CODES = ['MailCodeRequired', 'MailCodeWrong']
const ADDRESS_CODES = [...MAIL_CODES, 'IdentityTaken', 'MailIsUsername']
const NO_FAULTS = { email: '', code: '' }

/** Binds a mail address, proved by its code, in place of the one before. */
export function MailDialog(props: {
  isOpen: boolean
  /** The address that is bound; empty for none. */
  bound: string
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { bound } = props
  const isChange = bound !== ''
  const [draft, setDraft] = useState(EMPTY)
  const [faults, setFaults] = useState(NO_FAULTS)
  const close = () => {
    setDraft(EMPTY)
    setFaults(NO_FAULTS)
    props.onClose()
  }
  const { isBusy, submit } = useSubmit(async () => {
    const [email, code] = [draft.email.trim(), draft.code.trim()]
    setFaults({
      email: email === '' ? t('auth.needEmail') : '',
      code: email !== '' && code === '' ? t('auth.needCode') : '',
    })
    if (email === '' || code === '') return
    const bind = async () => {
      await proven(() => call('GET /api/oauth/email/bind', { query: { email, code } }))
      await client.invalidateQueries({ queryKey: selfQuery.queryKey })
      showSuccess(t('auth.mailBound'))
      close()
    }
    const byAddress = (words: string) => setFaults({ email: words, code: '' })
    const byCode = (words: string) => setFaults({ email: '', code: words })
    await atField(CODE_CODES, byCode, () => atField(ADDRESS_CODES, byAddress, bind))
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={isChange ? t('auth.changeMailTitle') : t('auth.bindMail')}
      lead={isChange ? t('auth.changeMailLead', { address: bound }) : t('auth.bindMailLead')}
      submitText={isChange ? t('auth.changeSubmit') : t('auth.bindSubmit')}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={close}
    >
      <Fields draft={draft} faults={faults} onDraft={setDraft} onFaults={setFaults} />
    </FormDialog>
  )
}

type Draft = typeof EMPTY

/** Mounted with the dialog alone: the human check loads when it is needed. */
function Fields(props: {
  draft: Draft
  faults: Draft
  onDraft: (change: (now: Draft) => Draft) => void
  onFaults: (faults: Draft) => void
}): ReactElement {
  const { t } = useTranslation()
  const human = useHumanCheck('verification')
  return (
    <>
      <MailCodeFields
        draft={props.draft}
        faults={props.faults}
        purpose="bind"
        onChange={(patch) => {
          props.onDraft((now) => ({ ...now, ...patch }))
          props.onFaults(NO_FAULTS)
        }}
        takeToken={human.take}
        onNoAddress={() => props.onFaults({ email: t('auth.needEmail'), code: '' })}
      />
      {human.box}
    </>
  )
}
