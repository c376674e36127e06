import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextArea, TextInput } from '#console/ui/inputs.tsx'
import { Switch } from '#console/ui/switches.tsx'
import { type JSON_FIELDS, objectFault } from './channel-draft.ts'
import type { ChannelFormProps } from './channel-form.tsx'

/** Routing, mappings and the fields that few channels need. */
export function ChannelAdvanced(props: ChannelFormProps): ReactElement {
  const { draft, onChange } = props
  const { t } = useTranslation()
  return (
    <div className="tg-advanced">
      <div className="tg-form-row">
        <NumberField {...props} field="priority" />
        <NumberField {...props} field="weight" />
      </div>
      <Switch
        label={t('channels.autoBan')}
        hint={t('channels.autoBanHint')}
        isOn={draft.autoBan}
        onChange={(autoBan) => onChange({ ...draft, autoBan })}
      />
      <JsonField {...props} field="modelMapping" example={'{"gpt-4o": "gpt-4o-2024-11-20"}'} />
      <JsonField {...props} field="statusCodeMapping" example={'{"400": "500"}'} />
      <JsonField {...props} field="paramOverride" example={'{"temperature": 0}'} />
      <JsonField {...props} field="setting" example={'{"include_usage": false}'} />
      <PlainField {...props} field="modelPrefix" hint={t('channels.modelPrefixHint')} />
      <PlainField {...props} field="organization" hint={t('channels.organizationHint')} />
      <PlainField {...props} field="testModel" />
      <PlainField {...props} field="tag" hint={t('channels.tagHint')} />
    </div>
  )
}

function NumberField(props: ChannelFormProps & { field: 'priority' | 'weight' }): ReactElement {
  const { draft, field, faults, onChange } = props
  const { t } = useTranslation()
  const fault = faults[field]
  return (
    <FormField
      label={t(`channels.${field}`)}
      hint={t(`channels.${field}Hint`)}
      error={fault && t(`channels.fault.${fault}`)}
    >
      {(control) => (
        <TextInput
          {...control}
          inputMode="numeric"
          value={draft[field]}
          onChange={(value) => onChange({ ...draft, [field]: value })}
        />
      )}
    </FormField>
  )
}

type JsonFieldName = (typeof JSON_FIELDS)[number]

/** Judged when it loses the focus, as a half-typed text is always wrong. */
function JsonField(
  props: ChannelFormProps & { field: JsonFieldName; example: string },
): ReactElement {
  const { draft, field, faults, onChange } = props
  const { t } = useTranslation()
  const [own, setOwn] = useState(() => objectFault(draft[field]))
  const fault = faults[field] ?? own
  return (
    <FormField
      label={t(`channels.${field}`)}
      hint={t(`channels.${field}Hint`)}
      error={fault ? t(`channels.fault.${fault}`) : undefined}
    >
      {(control) => (
        <TextArea
          {...control}
          isMono
          rows={3}
          spellCheck={false}
          placeholder={props.example}
          value={draft[field]}
          onChange={(value) => {
            onChange({ ...draft, [field]: value })
            if (own !== null) setOwn(objectFault(value))
          }}
          onBlur={() => setOwn(objectFault(draft[field]))}
        />
      )}
    </FormField>
  )
}

function PlainField(
  props: ChannelFormProps & {
    field: 'modelPrefix' | 'organization' | 'testModel' | 'tag'
    hint?: string
  },
): ReactElement {
  const { draft, field, onChange } = props
  const { t } = useTranslation()
  return (
    <FormField
      label={t(`channels.${field}`)}
      {...(props.hint === undefined ? {} : { hint: props.hint })}
    >
      {(control) => (
        <TextInput
          {...control}
          maxLength={200}
          value={draft[field]}
          onChange={(value) => onChange({ ...draft, [field]: value })}
        />
      )}
    </FormField>
  )
}
