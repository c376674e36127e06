import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useTranslateGroupDescription } from '#console/ui/elements/group-tag.tsx'
import { SelectField, TextAreaField, TextField } from '#console/ui/forms/fields.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import type { UsableGroups } from '#read-api/contract/users.ts'
import { type ChatSettings, MAX_TOKENS_LIMIT, TEMPERATURES } from './conversation.ts'

type ChatSettingsProps = {
  settings: ChatSettings
  groups: UsableGroups
  models: readonly string[]
  hasNone: boolean
  onChange: (patch: Partial<ChatSettings>) => void
}

/**
 * The form for the settings of a conversation. A change applies to the next message and to later
 * ones.
 */
export function ChatSettingsForm(props: ChatSettingsProps) {
  const { t } = useTranslation()
  const describeGroup = useTranslateGroupDescription()
  const { settings, onChange } = props
  const groups = Object.entries(props.groups).map(([value, { desc, ratio }]) => ({
    value,
    label: [value, ...(desc === '' ? [] : [describeGroup(value, desc)]), `${ratio}×`].join(' · '),
  }))
  return (
    <div className="tg-play-settings">
      <SelectField
        label={t('ui.groupName')}
        hint={t('playground.groupHint')}
        value={settings.group}
        choices={groups}
        onChange={(group) => onChange({ group })}
      />
      <SelectField
        label={t('ui.model')}
        error={props.hasNone ? t('playground.noModels') : ''}
        value={settings.model}
        choices={choicesOf(props.models)}
        onChange={(model) => onChange({ model })}
      />
      <Temperature
        value={settings.temperature}
        onChange={(temperature) => onChange({ temperature })}
      />
      <MaxTokens value={settings.maxTokens} onChange={(maxTokens) => onChange({ maxTokens })} />
      <TextAreaField
        label={t('playground.systemPrompt')}
        rows={4}
        value={settings.systemPrompt}
        onChange={(systemPrompt) => onChange({ systemPrompt })}
      />
    </div>
  )
}

/**
 * The field for the maximum number of output tokens. While the entered number is invalid, the last
 * valid number applies.
 */
function MaxTokens(props: { value: number; onChange: (maxTokens: number) => void }) {
  const { t } = useTranslation()
  const [wrong, setWrong] = useState<string | null>(null)
  const type = (text: string): void => {
    const isValid = /^\d{0,9}$/.test(text) && Number(text) <= MAX_TOKENS_LIMIT
    setWrong(isValid ? null : text)
    if (isValid) props.onChange(Number(text))
  }
  return (
    <TextField
      label={t('playground.maxTokens')}
      hint={t('shared.zeroMeansNoLimit')}
      error={wrong === null ? '' : t('playground.maxTokensInvalid', { max: MAX_TOKENS_LIMIT })}
      inputMode="numeric"
      maxLength={12}
      value={wrong ?? String(props.value)}
      onChange={type}
      onBlur={() => setWrong(null)}
    />
  )
}

/** The slider for the temperature. `value` is in tenths: 1 to 10 are the temperatures 0.1 to 1. */
function Temperature(props: { value: number; onChange: (tenths: number) => void }) {
  const { t } = useTranslation()
  const id = useId()
  return (
    <div className="tg-field">
      <div className="tg-slider-head">
        <label className="tg-label" htmlFor={id}>
          {t('playground.temperature')}
        </label>
        <output htmlFor={id}>{(props.value / 10).toFixed(1)}</output>
      </div>
      <input
        id={id}
        className="tg-slider"
        type="range"
        min={TEMPERATURES.min / 10}
        max={TEMPERATURES.max / 10}
        step={0.1}
        value={props.value / 10}
        aria-describedby={`${id}-hint`}
        onChange={(event) => props.onChange(Math.round(Number(event.currentTarget.value) * 10))}
      />
      <p id={`${id}-hint`} className="tg-hint">
        {t('playground.temperatureHint')}
      </p>
    </div>
  )
}
