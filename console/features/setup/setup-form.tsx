import { type FormEvent, type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { clearUser, storeUser } from '#console/api/session.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import {
  type AccountDraft,
  type AccountFault,
  accountFaults,
  EMPTY_ACCOUNT,
} from '#console/ui/forms/account-draft.ts'
import { AccountFields } from '#console/ui/forms/account-fields.tsx'
import { RadioCards } from '#console/ui/forms/switches.tsx'
import { showInfo } from '#console/ui/messages/toast.ts'
import type { Setup } from '#write-api/contract/registration.ts'

type UsageMode = 'external' | 'self' | 'demo'

type SetupDraft = AccountDraft & { mode: UsageMode }

const EMPTY_SETUP: SetupDraft = { ...EMPTY_ACCOUNT, mode: 'external' }

/** Returns the errors by field. If a root account exists, the form asks only for the mode. */
const setupFaults = (
  draft: SetupDraft,
  isRootReady: boolean,
): Partial<Record<keyof AccountDraft, AccountFault>> => (isRootReady ? {} : accountFaults(draft))

/**
 * Builds the setup request. `token` comes from a URL in the server's log and permits a setup from
 * another machine.
 */
function setupBody(draft: SetupDraft, token: string | null): Setup {
  return {
    username: draft.username.trim(),
    password: draft.password,
    confirmPassword: draft.again,
    SelfUseModeEnabled: draft.mode === 'self',
    DemoSiteEnabled: draft.mode === 'demo',
    ...(token === null ? {} : { setup_token: token }),
  }
}

/** The delay before leaving, so that the user can read the success message. */
const LEAVE_DELAY_MS = 800

type SetupState = { phase: 'ready' | 'busy' | 'done'; refusal: string }

/** Runs the setup once and opens the start page with a full page load. */
function useSetUp(): SetupState & { submit: (draft: SetupDraft) => void } {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const [state, setState] = useState<SetupState>({ phase: 'ready', refusal: '' })
  const isUnderWay = useRef(false)
  const submit = async (draft: SetupDraft) => {
    if (isUnderWay.current) return showInfo(t('auth.repeated'))
    isUnderWay.current = true
    setState({ phase: 'busy', refusal: '' })
    try {
      const user = await call('POST /api/setup', { body: setupBody(draft, params.get('token')) })
      // No user was created, so the stored user belongs to an earlier installation.
      if (user === null) clearUser()
      else storeUser(user)
      setState({ phase: 'done', refusal: '' })
      const path = user === null ? '/login' : '/app/start'
      setTimeout(() => window.location.assign(path), LEAVE_DELAY_MS)
    } catch (error) {
      isUnderWay.current = false
      const message = error instanceof Error ? error.message : ''
      setState({ phase: 'ready', refusal: message || t('setup.failed') })
    }
  }
  return { ...state, submit: (draft) => void submit(draft) }
}

const MODES: readonly UsageMode[] = ['external', 'self', 'demo']

export function SetupForm(props: { isRootReady: boolean }): ReactElement {
  const { t } = useTranslation()
  const { phase, refusal, submit } = useSetUp()
  const [draft, setDraft] = useState<SetupDraft>(EMPTY_SETUP)
  const [isChecked, setChecked] = useState(false)
  const faults = setupFaults(draft, props.isRootReady)
  const change = (patch: Partial<SetupDraft>) => setDraft((now) => ({ ...now, ...patch }))
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setChecked(true)
    const first = Object.keys(faults)[0]
    if (first === undefined) return submit(draft)
    event.currentTarget.querySelector<HTMLInputElement>(`input[name="${first}"]`)?.focus()
  }
  return (
    <form className="tg-entry-form" onSubmit={onSubmit} noValidate>
      {!props.isRootReady && (
        <AccountFields
          draft={draft}
          words="setup"
          faults={isChecked ? faults : {}}
          isWide
          onChange={change}
        />
      )}
      <RadioCards
        label={t('setup.mode')}
        value={draft.mode}
        choices={MODES.map((mode) => ({
          value: mode,
          label: t(`setup.${mode}`),
          hint: t(`setup.${mode}Hint`),
        }))}
        onChange={(mode) => change({ mode })}
      />
      {refusal !== '' && (
        <p className="tg-alert tg-alert-bad" role="alert">
          <Icon name="alert" />
          {refusal}
        </p>
      )}
      {phase === 'done' ? (
        <output className="tg-alert tg-alert-good">
          <Icon name="check" />
          {t('setup.done')}
        </output>
      ) : (
        <Button type="submit" tone="primary" size="large" isFill isBusy={phase === 'busy'}>
          {t('setup.submit')}
        </Button>
      )}
    </form>
  )
}
