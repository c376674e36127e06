import { type FormEvent, type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { secondPasskey } from '#console/api/auth/second-passkey.ts'
import { secondStep } from '#console/api/auth/second-step.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import type { SecondFactorKind } from '#write-api/contract/session.ts'
import { Refusal } from './refusal.tsx'
import { useEnter } from './use-enter.ts'
import type { Asked } from './use-login.ts'
import { useOnce } from './use-once.ts'

/** What a code is called in the form. */
const CODES = {
  totp: { label: 'auth.totpCode', lead: 'auth.totpLead', other: 'auth.useTotp' },
  recovery: { label: 'auth.recoveryCode', lead: 'auth.recoveryLead', other: 'auth.useRecovery' },
} as const
type CodeKind = keyof typeof CODES

/** The step after the password: a code of the app, a passkey, or a recovery code. */
export function SecondStepForm({
  needed,
  onRestart,
}: {
  needed: Asked
  onRestart: () => void
}): ReactElement {
  const { t } = useTranslation()
  const enter = useEnter()
  const { ticket, kinds, isCommonPassword } = needed
  const by = isCommonPassword === undefined ? {} : { isCommonPassword }
  const has = (kind: SecondFactorKind) => kinds.includes(kind)
  const [codeKind, setCodeKind] = useState<CodeKind | null>(has('totp') ? 'totp' : null)
  const { isBusy, refusal, run } = useOnce()
  const byCode = (code: string) => run(async () => enter(await secondStep({ ticket, code }), by))
  const byPasskey = () =>
    run(async () => enter(await secondStep({ ticket, passkey: await secondPasskey(ticket) }), by))
  const others = (['totp', 'recovery'] as const).filter((kind) => has(kind) && kind !== codeKind)
  return (
    <div className="tg-entry-form">
      {codeKind !== null && (
        <CodeForm key={codeKind} kind={codeKind} isBusy={isBusy} onCode={byCode} />
      )}
      <Refusal text={refusal} />
      {has('passkey') && (
        <Button
          icon="key"
          size="large"
          tone={codeKind === null ? 'primary' : 'normal'}
          isFill
          isBusy={isBusy && codeKind === null}
          onClick={() => void byPasskey()}
        >
          {t('auth.usePasskey')}
        </Button>
      )}
      <p className="tg-entry-links">
        {others.map((kind) => (
          <Button key={kind} tone="quiet" size="small" onClick={() => setCodeKind(kind)}>
            {t(CODES[kind].other)}
          </Button>
        ))}
        <Button tone="quiet" size="small" onClick={onRestart}>
          {t('auth.backToLogin')}
        </Button>
      </p>
    </div>
  )
}

function CodeForm(props: {
  kind: CodeKind
  isBusy: boolean
  onCode: (code: string) => Promise<void>
}): ReactElement {
  const { t } = useTranslation()
  const [code, setCode] = useState('')
  const [isChecked, setChecked] = useState(false)
  const { label, lead } = CODES[props.kind]
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setChecked(true)
    if (code.trim() !== '') void props.onCode(code.trim())
    else event.currentTarget.querySelector('input')?.focus()
  }
  return (
    <form className="tg-entry-step" onSubmit={submit} noValidate>
      <FormField
        label={t(label)}
        hint={t(lead)}
        error={isChecked && code.trim() === '' ? t('auth.needSecondCode') : ''}
      >
        {(control) => (
          <TextInput
            {...control}
            autoFocus
            autoComplete="one-time-code"
            inputMode={props.kind === 'totp' ? 'numeric' : 'text'}
            autoCapitalize="none"
            spellCheck={false}
            isMono
            maxLength={40}
            value={code}
            onChange={setCode}
          />
        )}
      </FormField>
      <Button type="submit" tone="primary" size="large" isFill isBusy={props.isBusy}>
        {t('auth.verify')}
      </Button>
    </form>
  )
}
