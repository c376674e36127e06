import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { promptForPasskey } from '#console/api/auth/browser-passkeys.ts'
import { call } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { ONE_TIME_CODE_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import {
  type DraftForm,
  errorsByCode,
  formProps,
  useDraftForm,
} from '#console/ui/forms/use-draft-form.ts'
import { ServerErrorText } from '#console/ui/messages/alert.tsx'
import type { PasskeyAssertion } from '#write-api/contract/credentials.ts'
import type { SecondFactorKind } from '#write-api/contract/login.ts'
import type { SecondFactor } from './login-form.tsx'
import { useCompleteLogin } from './use-complete-login.ts'

const CODES = {
  totp: { label: 'ui.verificationCode', lead: 'auth.totpLead', other: 'auth.useTotp' },
  recovery: { label: 'auth.recoveryCode', lead: 'auth.recoveryLead', other: 'auth.useRecovery' },
} as const
type CodeKind = keyof typeof CODES
type CodeDraft = { code: string; isByPasskey: boolean }

export function SecondFactorForm({
  needed,
  onRestart,
}: {
  needed: SecondFactor
  onRestart: () => void
}) {
  const { t } = useTranslation()
  const enter = useCompleteLogin()
  const { ticket, kinds, isCommonPassword } = needed
  const by = isCommonPassword === undefined ? {} : { isCommonPassword }
  const has = (kind: SecondFactorKind) => kinds.includes(kind)
  const [codeKind, setCodeKind] = useState<CodeKind | null>(has('totp') ? 'totp' : null)
  const form = useDraftForm<CodeDraft>({
    initial: () => ({ code: '', isByPasskey: false }),
    validate: ({ code, isByPasskey }) =>
      isByPasskey || code.trim() !== '' ? {} : { code: t('ui.enterCode') },
    save: async ({ code, isByPasskey }) => {
      const factor = isByPasskey ? { passkey: await askForPasskey(ticket) } : { code: code.trim() }
      await enter(await call('POST /api/user/login/second', { body: { ticket, ...factor } }), by)
    },
    errorsOf: errorsByCode({ code: ONE_TIME_CODE_ERRORS }),
    showsFormError: true,
  })
  const select = (kind: CodeKind) => {
    setCodeKind(kind)
    form.reset()
  }
  const others = (['totp', 'recovery'] as const).filter((kind) => has(kind) && kind !== codeKind)
  return (
    <div className="tg-entry-form">
      {codeKind !== null && <CodeForm key={codeKind} kind={codeKind} form={form} />}
      <ServerErrorText text={form.formError} />
      {has('passkey') && (
        <Button
          icon="key"
          size="large"
          tone={codeKind === null ? 'primary' : 'normal'}
          isFill
          isBusy={form.isBusy && codeKind === null}
          onClick={() => void form.submitWith({ isByPasskey: true })}
        >
          {t('auth.usePasskey')}
        </Button>
      )}
      <p className="tg-entry-links">
        {others.map((kind) => (
          <Button key={kind} tone="quiet" size="small" onClick={() => select(kind)}>
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

function CodeForm(props: { kind: CodeKind; form: DraftForm<CodeDraft> }) {
  const { t } = useTranslation()
  const { kind, form } = props
  return (
    <form className="tg-entry-step" {...formProps(form)}>
      <TextField
        label={t(CODES[kind].label)}
        hint={t(CODES[kind].lead)}
        autoFocus
        autoComplete="one-time-code"
        inputMode={kind === 'totp' ? 'numeric' : 'text'}
        isMono
        maxLength={40}
        {...form.field('code')}
      />
      <Button type="submit" tone="primary" size="large" isFill isBusy={form.isBusy}>
        {t('auth.verify')}
      </Button>
    </form>
  )
}

async function askForPasskey(ticket: string): Promise<PasskeyAssertion> {
  return promptForPasskey(await call('POST /api/user/login/second/begin', { body: { ticket } }))
}
