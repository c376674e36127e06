import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { currentLanguage } from '#console/i18n/i18n.ts'
import { SelectField, TextAreaField, TextField } from '#console/ui/forms/fields.tsx'
import type { ChannelTypeField } from '#read-api/contract/channel-type-schema.ts'
import type { ChannelFormProps } from './channel-draft.ts'
import { validateJsonObject } from './json-validation.ts'

export function TypeSpecificFields(props: ChannelFormProps) {
  return (
    <>
      {(props.type?.fields ?? []).map((field) => (
        <TypeSpecificField key={field.key} {...props} field={field} />
      ))}
    </>
  )
}

function TypeSpecificField({ form, field }: ChannelFormProps & { field: ChannelTypeField }) {
  const { t } = useTranslation()
  const [isBroken, setBroken] = useState(false)
  const language = currentLanguage()
  const { value, error, onChange } = form.field(field.key)
  const shared = {
    label: field.label[language],
    hint: field.hint[language] || undefined,
    error: error ?? (isBroken ? t('shared.error.notJson') : undefined),
    isRequired: field.is_required && field.default === '',
    value,
    onChange,
  }
  if (field.kind === 'choice') {
    const choices = ['', ...(field.choices ?? [])].map((choice) => ({
      value: choice,
      label: choice || t('channelForm.defaultValue', { value: field.default || '–' }),
    }))
    return <SelectField {...shared} choices={choices} />
  }
  if (field.kind !== 'json') {
    return <TextField {...shared} maxLength={2000} placeholder={field.default} />
  }
  return (
    <TextAreaField
      {...shared}
      isMono
      rows={3}
      placeholder={field.default}
      onBlur={() => setBroken(isBrokenJson(value))}
    />
  )
}

const isBrokenJson = (text: string): boolean =>
  /^\s*[[{]/.test(text) && validateJsonObject(text) === 'notJson'
