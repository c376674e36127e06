import { type FormEvent, type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AccountFields } from '#console/ui/account-fields.tsx'
import { Button } from '#console/ui/button.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { RadioCards } from '#console/ui/switches.tsx'
import { EMPTY_SETUP, type SetupDraft, setupFaults, type UsageMode } from './setup-draft.ts'
import { useSetUp } from './use-set-up.ts'

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
