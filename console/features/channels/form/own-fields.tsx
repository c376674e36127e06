import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { currentLanguage } from '#console/i18n/i18n.ts'
import { FormField } from '#console/ui/form-field.tsx'
import { Select, TextArea, TextInput } from '#console/ui/inputs.tsx'
import type { ChannelTypeField } from '#read-api/contract/channel-types.ts'
import type { ChannelFormProps } from './channel-form-props.ts'
import { objectFault } from './json-faults.ts'

/** The fields that the type declares; one that is empty shows what is used instead. */
export function OwnFields(props: ChannelFormProps): ReactElement {
  return (
    <>
      {(props.type?.fields ?? []).map((field) => (
        <OwnField key={field.key} {...props} field={field} />
      ))}
    </>
  )
}

function OwnField(props: ChannelFormProps & { field: ChannelTypeField }): ReactElement {
  const { draft, faults, field, onChange } = props
  const { t } = useTranslation()
  const [isBroken, setBroken] = useState(false)
  const language = currentLanguage()
  const fault = faults[field.key] ?? (isBroken ? 'notJson' : undefined)
  const value = draft.own[field.key]
  const set = (text: string) => onChange({ own: { ...draft.own, [field.key]: text } })
  return (
    <FormField
      label={field.label[language]}
      hint={field.hint[language] || undefined}
      error={fault && t(`channelForm.fault.${fault}`)}
      isRequired={field.is_required && field.default === ''}
    >
      {(control) =>
        field.kind === 'choice' ? (
          <Select
            {...control}
            value={value}
            choices={['', ...(field.choices ?? [])].map((choice) => ({
              value: choice,
              label: choice || t('channelForm.byDefault', { value: field.default || '–' }),
            }))}
            onChange={set}
          />
        ) : field.kind === 'json' ? (
          <TextArea
            {...control}
            isMono
            rows={3}
            spellCheck={false}
            placeholder={field.default}
            value={value}
            onChange={set}
            onBlur={() => setBroken(isBrokenJson(value))}
          />
        ) : (
          <TextInput
            {...control}
            maxLength={2000}
            placeholder={field.default}
            value={value}
            onChange={set}
          />
        )
      }
    </FormField>
  )
}

/** Plain text is fine; what begins as JSON must be JSON. */
const isBrokenJson = (text: string): boolean =>
  /^\s*[[{]/.test(text) && objectFault(text) === 'notJson'
