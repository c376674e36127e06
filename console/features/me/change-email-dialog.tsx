import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { selfQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { MailCodeFields } from '#console/ui/forms/mail-code-fields.tsx'
import { MAIL_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import {
  type DraftForm,
  errorsByCode,
  FieldError,
  useDraftForm,
} from '#console/ui/forms/use-draft-form.ts'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'

const FIELD_CODES = {
  code: ['MailCodeRequired', 'MailCodeWrong'],
  email: [...MAIL_ERRORS, 'IdentityTaken', 'MailIsUsername'],
}

export function ChangeEmailDialog(props: {
  isOpen: boolean
  /** The mail address of the account, or an empty text if the account has no mail address. */
  bound: string
  onClose: () => void
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { bound } = props
  const hasBoundAddress = bound !== ''
  const form = useDraftForm<MailDraft>({
    initial: () => ({ email: '', code: '' }),
    onClose: props.onClose,
    save: async (draft) => {
      const [email, code] = [draft.email.trim(), draft.code.trim()]
      if (email === '') throw new FieldError({ email: t('auth.emailRequired') })
      if (code === '') throw new FieldError({ code: t('auth.codeRequired') })
      await retryWithIdentityProof(() =>
        call('GET /api/oauth/email/bind', { query: { email, code } }),
      )
      await client.invalidateQueries({ queryKey: selfQuery.queryKey })
      showSuccess(t('me.mailBound'))
      form.close()
    },
    errorsOf: errorsByCode(FIELD_CODES),
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={hasBoundAddress ? t('me.changeMailTitle') : t('me.bindMail')}
      lead={hasBoundAddress ? t('me.changeMailLead', { address: bound }) : t('me.bindMailLead')}
      submitText={hasBoundAddress ? t('me.changeSubmit') : t('me.bindSubmit')}
      form={form}
    >
      <Fields form={form} />
    </FormDialog>
  )
}

type MailDraft = { email: string; code: string }

/**
 * The fields of the dialog. These fields are a separate component, because the CAPTCHA must not
 * load before the dialog opens.
 */
function Fields({ form }: { form: DraftForm<MailDraft> }) {
  const human = useHumanCheck('verification')
  return (
    <>
      <MailCodeFields form={form} purpose="bind" takeToken={human.takeToken} />
      {human.box}
    </>
  )
}
