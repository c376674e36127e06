import { useTranslation } from 'react-i18next'
import { Link, useNavigate, useSearchParams } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { useStatus } from '#console/api/status.ts'
import { MailCodeFields } from '#console/ui/forms/mail-code-fields.tsx'
import {
  type AccountDraft,
  type AccountErrorKey,
  AccountFields,
  EMPTY_ACCOUNT,
  validateAccount,
} from '#console/ui/forms/new-account-fields.tsx'
import { MAIL_ERRORS, USERNAME_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import {
  errorsByCode,
  type FieldCodes,
  type FieldErrors,
  useDraftForm,
} from '#console/ui/forms/use-draft-form.ts'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { useSiteName } from '#console/ui/layout/page.tsx'
import { SingleTaskForm, SingleTaskPage } from '#console/ui/layout/single-task-page.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { Status } from '#read-api/contract/status.ts'
import type { Register } from '#write-api/contract/registration-password-reset-and-setup.ts'

function RegisterForm() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const status = useStatus()
  const [params] = useSearchParams()
  const human = useHumanCheck('register')
  const needsMail = status?.email_verification === true
  const form = useDraftForm<RegisterDraft, RegisterErrorKey>({
    initial: () => EMPTY_REGISTER,
    validate: (draft) => validateRegistration(draft, needsMail),
    errorText: (errorKey) =>
      t(errorKey === 'passwordsDiffer' ? 'ui.passwordsDiffer' : `auth.${errorKey}`),
    save: async (draft) => {
      const token = human.takeToken()
      if (token === null) return
      const affCode = status?.aff_enabled === false ? null : params.get('aff')
      const body = registerBody(draft, needsMail, affCode)
      await call('POST /api/user/register', { query: { turnstile: token }, body })
      showSuccess(t('auth.registered'), { staysOnNavigation: true })
      await navigate('/login', { replace: true })
    },
    errorsOf: errorsByCode(FIELD_CODES),
    showsFormError: true,
  })
  return (
    <SingleTaskForm form={form} submitText={t('shell.register')}>
      <AccountFields form={form} textGroup="auth" />
      {needsMail && <MailCodeFields form={form} purpose="register" takeToken={human.takeToken} />}
      {human.box}
    </SingleTaskForm>
  )
}

/** The registration page. The URL parameter `aff` is the invitation code. */
export function RegisterPage() {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const name = useSiteName()
  const closed = closedBy(useStatus())
  const aff = params.get('aff')
  const login = aff === null ? '/login' : `/login?${new URLSearchParams({ aff })}`
  return (
    <SingleTaskPage
      title={t('shell.register')}
      heading={t('auth.registerWelcome', { name })}
      lead={closed === null ? t('auth.registerLead') : undefined}
    >
      {closed === null ? (
        <RegisterForm />
      ) : (
        <Alert role="alert">
          <span>
            {t(`auth.${closed}`)}
            {closed === 'passwordRegisterClosed' && (
              <>
                {' '}
                <Link to={login}>{t('auth.otherLoginMethods')}</Link>
              </>
            )}
          </span>
        </Alert>
      )}
      <p className="tg-entry-links">
        <span>
          {t('auth.hasAccount')} <Link to={login}>{t('auth.toLogin')}</Link>
        </span>
      </p>
    </SingleTaskPage>
  )
}

function closedBy(status: Status | undefined): 'registerClosed' | 'passwordRegisterClosed' | null {
  if (status?.register_enabled === false || status?.self_use_mode_enabled === true) {
    return 'registerClosed'
  }
  return status?.password_register_enabled === false ? 'passwordRegisterClosed' : null
}

type RegisterDraft = AccountDraft & { email: string; code: string }
type RegisterErrorKey = AccountErrorKey | 'emailRequired' | 'emailInvalid' | 'codeRequired'

const EMPTY_REGISTER: RegisterDraft = { ...EMPTY_ACCOUNT, email: '', code: '' }

const FIELD_CODES: FieldCodes<RegisterDraft> = {
  username: USERNAME_ERRORS,
  password: ['PasswordTooShort', 'PasswordTooLong'],
  confirmPassword: ['PasswordsDiffer'],
  email: ['IdentityTaken', 'MailIsUsername', ...MAIL_ERRORS],
  code: ['MailCodeRequired', 'MailCodeWrong'],
}

/**
 * Matches a text that looks like a mail address. Only the server validates the address completely.
 */
const MAIL_ADDRESS_PATTERN = /^[^\s@＠]+[@＠][^\s@＠]+$/

function validateRegistration(
  draft: RegisterDraft,
  needsMail: boolean,
): FieldErrors<RegisterDraft, RegisterErrorKey> {
  return {
    ...validateAccount(draft),
    ...(needsMail && !MAIL_ADDRESS_PATTERN.test(draft.email.trim())
      ? { email: 'emailInvalid' }
      : {}),
    ...(needsMail && draft.email.trim() === '' ? { email: 'emailRequired' } : {}),
    ...(needsMail && draft.code.trim() === '' ? { code: 'codeRequired' } : {}),
  }
}

function registerBody(draft: RegisterDraft, needsMail: boolean, affCode: string | null): Register {
  const { username, password, confirmPassword, email, code } = draft
  return {
    username: username.trim(),
    password,
    password2: confirmPassword,
    ...(needsMail ? { email: email.trim(), verification_code: code.trim() } : {}),
    ...(affCode === null ? {} : { aff_code: affCode.slice(0, 64) }),
  }
}
