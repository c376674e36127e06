import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import type { JSON_FIELDS } from './channel-draft.ts'
import type { ChannelFormProps } from './channel-form-props.ts'
import { jsonFault } from './json-faults.ts'
import { JsonField } from './json-field.tsx'

/** What is changed on the way to the provider and back. */
export function MappingFields(props: ChannelFormProps): ReactElement {
  const { draft, faults, refusal, onChange } = props
  const { t } = useTranslation()
  const json = (field: (typeof JSON_FIELDS)[number]) => ({
    label: t(`channelForm.${field}`),
    hint: t(`channelForm.${field}Hint`),
    value: draft[field],
    fault: faults[field],
    judge: (text: string) => jsonFault(field, text),
    refused: refusal?.field === field ? refusal.text : undefined,
    onChange: (value: string) => onChange({ [field]: value }),
  })
  return (
    <>
      <JsonField {...json('modelMapping')} example={'{"gpt-4o": "gpt-4o-2024-11-20"}'} />
      <FormField label={t('channelForm.modelPrefix')} hint={t('channelForm.modelPrefixHint')}>
        {(control) => (
          <TextInput
            {...control}
            maxLength={200}
            value={draft.modelPrefix}
            onChange={(modelPrefix) => onChange({ modelPrefix })}
          />
        )}
      </FormField>
      <JsonField {...json('statusCodeMapping')} example={'{"400": "500"}'} />
      <JsonField {...json('paramOverride')} example={'{"temperature": 0}'} />
      <JsonField
        {...json('setting')}
        example={'{"include_usage": false, "proxy": "http://10.0.0.5:3128"}'}
        known={['include_usage', 'proxy', 'allowed_members']}
      />
    </>
  )
}
