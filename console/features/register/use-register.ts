import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { MAIL_CODES, USERNAME_CODES } from '#console/ui/forms/at-field.ts'
import { showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import type { Register } from '#write-api/contract/registration.ts'
import type { RegisterField } from './register-draft.ts'

/** The server's error; `field` is null if the error concerns no field. */
export type RegisterRefusal = { readonly field: RegisterField | null; readonly words: string }

/** The form field of each error code of the server. */
const FIELD_OF: Readonly<Record<string, RegisterField>> = {
  ...Object.fromEntries(USERNAME_CODES.map((code) => [code, 'username'] as const)),
  PasswordTooShort: 'password',
  PasswordTooLong: 'password',
  PasswordsDiffer: 'again',
  IdentityTaken: 'email',
  MailIsUsername: 'email',
  ...Object.fromEntries(MAIL_CODES.map((code) => [code, 'email'] as const)),
  MailCodeRequired: 'code',
  MailCodeWrong: 'code',
}

/** Sends one registration at a time and opens the login page on success. */
export function useRegister() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const isUnderWay = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<RegisterRefusal | null>(null)
  const submit = async (account: Register, takeToken: () => string | null) => {
    if (isUnderWay.current) return showInfo(t('auth.repeated'))
    const token = takeToken()
    if (token === null) return
    isUnderWay.current = true
    setBusy(true)
    setRefusal(null)
    try {
      await call('POST /api/user/register', { query: { turnstile: token }, body: account })
      showSuccess(t('auth.registered'), { goesAlong: true })
      await navigate('/login', { replace: true })
    } catch (error) {
      const field = error instanceof ApiError ? (FIELD_OF[error.code] ?? null) : null
      setRefusal({ field, words: error instanceof Error ? error.message : String(error) })
    } finally {
      isUnderWay.current = false
      setBusy(false)
    }
  }
  return { submit, isBusy, refusal, forget: () => setRefusal(null) }
}
