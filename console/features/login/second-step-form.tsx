import { type FormEvent, type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { showPasskey } from '#console/api/auth/passkeys.ts'
import { call } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { atField, CODE_CODES } from '#console/ui/forms/at-field.ts'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { Refusal } from '#console/ui/forms/refusal.tsx'
import { focusFirstFault } from '#console/ui/forms/use-submit.ts'
import type { PasskeyAssertion } from '#write-api/contract/credentials.ts'
import type { SecondFactorKind } from '#write-api/contract/login.ts'
import { useEnter } from './use-enter.ts'
import type { Asked } from './use-login.ts'
import { useOnce } from './use-once.ts'

const CODES = {
  totp: { label: 'ui.verificationCode', lead: 'auth.totpLead', other: 'auth.useTotp' },
  recovery: { label: 'auth.recoveryCode', lead: 'auth.recoveryLead', other: 'auth.useRecovery' },
} as const
type CodeKind = keyof typeof CODES

/** The second factor of a login: an authenticator code, a passkey or a recovery code. */
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
  const byCode = (code: string, tell: (words: string) => void) =>
    run(() =>
      atField(CODE_CODES, tell, async () =>
        enter(await call('POST /api/user/login/second', { body: { ticket, code } }), by),
      ),
    )
  const byPasskey = () =>
    run(async () =>
      enter(
        await call('POST /api/user/login/second', {
          body: { ticket, passkey: await secondPasskey(ticket) },
        }),
        by,
      ),
    )
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
  /** Receives the entered code. `tell` shows an error below the code field. */
  onCode: (code: string, tell: (words: string) => void) => Promise<void>
}): ReactElement {
  const { t } = useTranslation()
  const form = useRef<HTMLFormElement>(null)
  const [code, setCode] = useState('')
  const [fault, setFault] = useState('')
  const { label, lead } = CODES[props.kind]
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setFault(code.trim() === '' ? t('ui.enterCode') : '')
    if (code.trim() === '') return focusFirstFault(form)
    void props.onCode(code.trim(), setFault).then(() => focusFirstFault(form))
  }
  return (
    <form ref={form} className="tg-entry-step" onSubmit={submit} noValidate>
      <FormField label={t(label)} hint={t(lead)} error={fault}>
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
            onChange={(next) => {
              setCode(next)
              setFault('')
            }}
          />
        )}
      </FormField>
      <Button type="submit" tone="primary" size="large" isFill isBusy={props.isBusy}>
        {t('auth.verify')}
      </Button>
    </form>
  )
}

async function secondPasskey(ticket: string): Promise<PasskeyAssertion> {
  return showPasskey(await call('POST /api/user/login/second/begin', { body: { ticket } }))
}
