import { type ReactElement, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { BasicFields } from './basic-fields.tsx'
import { JSON_FIELDS, NUMBER_FIELDS } from './channel-draft.ts'
import type { ChannelFaults } from './channel-faults.ts'
import type { ChannelFormProps } from './channel-form-props.ts'
import { jsonFault } from './json-faults.ts'
import { JsonField } from './json-field.tsx'
import { KeyFields } from './key-fields.tsx'
import { LimitFields } from './limit-fields.tsx'
import { ModelFields } from './model-fields.tsx'

/** What is changed on the way to the provider and back. */
function MappingFields(props: ChannelFormProps): ReactElement {
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

const LIMITS = [...NUMBER_FIELDS, 'priority', 'costRatio', 'expiresAt'] as const
const MAPPINGS = [...JSON_FIELDS, 'modelPrefix'] as const

/**
 * What every channel needs, and the rest behind a press each; opened when a fault lies there,
 * or mappings are set.
 */
export function ChannelForm(props: ChannelFormProps): ReactElement {
  const { refusal } = props
  const { t } = useTranslation()
  const isWrong = (fields: readonly (keyof ChannelFaults)[]) =>
    fields.some((field) => props.faults[field] !== undefined)
  return (
    <>
      <fieldset className="tg-form-group">
        <legend>{t('channelForm.basics')}</legend>
        <BasicFields {...props} />
        <KeyFields {...props} />
      </fieldset>
      <fieldset className="tg-form-group">
        <legend>{t('channelForm.serves')}</legend>
        <ModelFields {...props} />
      </fieldset>
      <Section
        title={t('channelForm.routing')}
        lead={t('channelForm.routingLead')}
        isForced={isWrong(LIMITS)}
      >
        <LimitFields {...props} />
      </Section>
      <Section
        title={t('channelForm.mappings')}
        lead={t('channelForm.mappingsLead')}
        isFilled={MAPPINGS.some((field) => (props.stored?.[field] ?? '') !== '')}
        isForced={isWrong(JSON_FIELDS) || JSON_FIELDS.some((one) => one === refusal?.field)}
      >
        <MappingFields {...props} />
      </Section>
    </>
  )
}

function Section(props: {
  title: string
  lead: string
  /** Something of it is set from the start: what is set is in sight. */
  isFilled?: boolean
  isForced: boolean
  children: ReactNode
}): ReactElement {
  const [isPressed, setPressed] = useState(props.isFilled === true)
  const isOpen = isPressed || props.isForced
  return (
    <section className="tg-form-group">
      <button
        type="button"
        className="tg-disclosure"
        aria-expanded={isOpen}
        onClick={() => setPressed(!isOpen)}
      >
        <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} />
        <span>{props.title}</span>
        <span className="tg-hint">{props.lead}</span>
      </button>
      {isOpen && <div className="tg-advanced">{props.children}</div>}
    </section>
  )
}
