import { type FormEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { useStatus } from '#console/api/status.ts'
import { focusFirstFault } from '#console/ui/forms/use-submit.ts'
import {
  EMPTY_REGISTER,
  type RegisterDraft,
  type RegisterFaults,
  type RegisterField,
  registerBody,
  registerFaults,
} from './register-draft.ts'
import { useRegister } from './use-register.ts'

/**
 * Manages the registration form. Each error appears at its field. The first field with an error
 * gets the focus.
 */
export function useRegisterForm(takeToken: () => string | null) {
  const { t } = useTranslation()
  const status = useStatus()
  const [params] = useSearchParams()
  const needsMail = status?.email_verification === true
  const { submit, isBusy, refusal, forget } = useRegister()
  const [draft, setDraft] = useState<RegisterDraft>(EMPTY_REGISTER)
  const [checked, setChecked] = useState<'nothing' | 'email' | 'all'>('nothing')
  const form = useRef<HTMLFormElement>(null)
  const faults = registerFaults(draft, needsMail)
  const shown = shownOf(faults, checked)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setChecked('all')
    if (Object.keys(faults).length > 0) return focusFirstFault(form)
    const affCode = status?.aff_enabled === false ? null : params.get('aff')
    const body = registerBody(draft, needsMail, affCode)
    void submit(body, takeToken).then(() => focusFirstFault(form))
  }
  const refused = (field: RegisterField) => (refusal?.field === field ? refusal.words : '')
  return {
    form,
    draft,
    needsMail,
    isBusy,
    onSubmit,
    /** The errors by field name. An error of the server has the server's message. */
    faults: shown,
    refused: {
      username: refused('username'),
      password: refused('password'),
      again: refused('again'),
    },
    mailErrors: {
      email: shown.email === undefined ? refused('email') : t(`auth.${shown.email}`),
      code: shown.code === undefined ? refused('code') : t('auth.needCode'),
    },
    /** The server's error, if it does not concern a field. */
    refusal: refusal?.field === null ? refusal.words : '',
    change: (patch: Partial<RegisterDraft>) => {
      setDraft((now) => ({ ...now, ...patch }))
      if (refusal?.field != null && refusal.field in patch) forget()
    },
    /** Called if a code is requested without an address. Focuses the address with its error. */
    onNoAddress: () => {
      if (checked === 'nothing') setChecked('email')
      form.current?.querySelector<HTMLInputElement>('input[name="email"]')?.focus()
    },
  }
}

function shownOf(faults: RegisterFaults, checked: 'nothing' | 'email' | 'all'): RegisterFaults {
  if (checked === 'all') return faults
  return checked === 'email' && faults.email === 'needEmail' ? { email: faults.email } : {}
}
