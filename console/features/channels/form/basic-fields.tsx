import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { currentLanguage } from '#console/i18n/i18n.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { SelectField, TextAreaField, TextField } from '#console/ui/forms/fields.tsx'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { choicesOf, TextInput } from '#console/ui/forms/inputs.tsx'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import type { ChannelTypeField } from '#read-api/contract/channel-type-schema.ts'
import { useChannelTypes } from '../use-channel-types.ts'
import { type ChannelFormProps, changeType } from './channel-draft.ts'
import { validateJsonObject } from './json-validation.ts'
import { upstreamUrl } from './upstream-url.ts'

export function BasicFields(props: ChannelFormProps) {
  const { t } = useTranslation()
  return (
    <>
      <TypeField {...props} />
      <TextField
        label={t('shared.name')}
        isRequired
        maxLength={CHANNEL_FIELDS.name.maxLength}
        placeholder={t('channelForm.namePlaceholder')}
        {...props.form.field('name')}
      />
      <Address {...props} />
      <TypeSpecificFields {...props} />
    </>
  )
}

/**
 * Selects the type of the channel. A stored type that is no longer supported can still be selected.
 */
function TypeField({ form, stored, type }: ChannelFormProps) {
  const { t } = useTranslation()
  const { types, nameOf, find } = useChannelTypes()
  const unsupportedTypes = stored === null || find(stored.type) !== undefined ? [] : [stored.type]
  const choices = [...types.map(({ id }) => id), ...unsupportedTypes]
  return (
    <SelectField
      label={t('shared.type')}
      hint={type === undefined ? t('channelForm.typeUnsupported') : undefined}
      isRequired
      value={String(form.draft.type)}
      choices={choices.map((id) => ({ value: String(id), label: nameOf(id) }))}
      onChange={(id) => {
        const after = find(Number(id))
        if (after === undefined) form.change({ type: Number(id) })
        else form.change(changeType(form.draft, type, after))
      }}
    />
  )
}

function Address({ form, type }: ChannelFormProps) {
  const { t } = useTranslation()
  const { value, error, onChange } = form.field('baseUrl')
  const address = upstreamUrl(type, value, form.draft.other)
  return (
    <FormField
      label={t('shared.baseUrl')}
      hint={address === '' ? undefined : t('channelForm.baseUrlHint', { address })}
      error={error}
      isRequired={type?.base_url === ''}
    >
      {(control) => (
        <>
          <TextInput
            {...control}
            inputMode="url"
            isMono
            autoComplete="off"
            placeholder={type?.base_url || 'https://'}
            value={value}
            onChange={onChange}
          />
          {type !== undefined && type.bases.length > 0 && (
            <div className="tg-fills">
              {type.bases.map(({ keyword, name }) => (
                <Button
                  key={keyword}
                  size="small"
                  isPressed={value.trim() === keyword}
                  onClick={() => onChange(keyword)}
                >
                  {name[currentLanguage()]}
                </Button>
              ))}
            </div>
          )}
        </>
      )}
    </FormField>
  )
}

function TypeSpecificFields(props: ChannelFormProps) {
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
  const [isMalformed, setMalformed] = useState(false)
  const language = currentLanguage()
  const { value, error, onChange } = form.field(field.key)
  const shared = {
    label: field.label[language],
    hint: field.hint[language] || undefined,
    error: error ?? (isMalformed ? t('shared.error.notJson') : undefined),
    isRequired: field.is_required && field.default === '',
    value,
    onChange,
  }
  if (field.kind === 'choice') {
    const choices = choicesOf(
      ['', ...(field.choices ?? [])],
      (choice) => choice || t('channelForm.defaultValue', { value: field.default || '–' }),
    )
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
      onBlur={() => setMalformed(isMalformedJson(value))}
    />
  )
}

const isMalformedJson = (text: string): boolean =>
  /^\s*[[{]/.test(text) && validateJsonObject(text) === 'notJson'
