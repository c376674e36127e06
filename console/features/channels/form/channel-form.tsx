import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '#console/ui/elements/icons.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import { BasicFields } from './basic-fields.tsx'
import { type ChannelFormProps, JSON_FIELDS, NUMBER_FIELDS } from './channel-draft.ts'
import { JsonField } from './json-field.tsx'
import { validateJson } from './json-validation.ts'
import { KeyFields } from './key-fields.tsx'
import { ModelFields } from './model-fields.tsx'
import { RoutingAndLimitFields } from './routing-and-limit-fields.tsx'

function MappingFields({ form }: ChannelFormProps) {
  const { t } = useTranslation()
  const json = (name: (typeof JSON_FIELDS)[number]) => ({
    label: t(`channelForm.${name}`),
    hint: t(`channelForm.${name}Hint`),
    judge: (text: string) => validateJson(name, text),
    ...form.field(name),
  })
  return (
    <>
      <JsonField {...json('modelMapping')} example={'{"gpt-4o": "gpt-4o-2024-11-20"}'} />
      <TextField
        label={t('channelForm.modelPrefix')}
        hint={t('channelForm.modelPrefixHint')}
        maxLength={CHANNEL_FIELDS.modelPrefix.maxLength}
        {...form.field('modelPrefix')}
      />
      <JsonField {...json('statusCodeMapping')} example={'{"400": "500"}'} />
      <JsonField {...json('paramOverride')} example={'{"temperature": 0}'} />
      <JsonField
        {...json('setting')}
        example={'{"include_usage": false, "proxy": "http://10.0.0.5:3128"}'}
        knownMembers={['include_usage', 'rate_limit_headers', 'proxy', 'allowed_members']}
      />
    </>
  )
}

const LIMITS = [...NUMBER_FIELDS, 'priority', 'costRatio', 'expiresAt'] as const
const MAPPINGS = [...JSON_FIELDS, 'modelPrefix'] as const

export function ChannelForm(props: ChannelFormProps) {
  const { t } = useTranslation()
  const { errors } = props.form
  const isWrong = (fields: readonly (keyof typeof errors)[]) =>
    fields.some((field) => errors[field] !== undefined)
  return (
    <>
      <fieldset className="tg-form-group">
        <legend>{t('shared.basics')}</legend>
        <BasicFields {...props} />
        <KeyFields {...props} />
      </fieldset>
      <fieldset className="tg-form-group">
        <legend>{t('channelForm.modelsAndGroups')}</legend>
        <ModelFields {...props} />
      </fieldset>
      <Section
        title={t('channelForm.routing')}
        lead={t('channelForm.routingLead')}
        isForced={isWrong(LIMITS)}
      >
        <RoutingAndLimitFields {...props} />
      </Section>
      <Section
        title={t('channelForm.mappings')}
        lead={t('channelForm.mappingsLead')}
        isFilled={MAPPINGS.some((field) => (props.stored?.[field] ?? '') !== '')}
        isForced={isWrong(JSON_FIELDS)}
      >
        <MappingFields {...props} />
      </Section>
    </>
  )
}

function Section(props: {
  title: string
  lead: string
  isFilled?: boolean
  isForced: boolean
  children: ReactNode
}) {
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
