import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { optionsQuery } from '#console/api/options.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { SwitchField } from '#console/ui/forms/choice-inputs.tsx'
import { DateTimeField, TextField } from '#console/ui/forms/fields.tsx'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import { BasicFields } from './basic-fields.tsx'
import { type ChannelFormProps, JSON_FIELDS, NUMBER_FIELDS } from './channel-draft.ts'
import { JsonField } from './json-field.tsx'
import { validateJson } from './json-validation.ts'
import { KeyFields } from './key-fields.tsx'
import { ModelFields } from './model-fields.tsx'

function MappingFields({ form }: ChannelFormProps) {
  const { t } = useTranslation()
  const json = (name: (typeof JSON_FIELDS)[number]) => ({
    label: t(`channelForm.${name}`),
    hint: t(`channelForm.${name}Hint`),
    validate: (text: string) => validateJson(name, text),
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
        knownMembers={[
          ...['include_usage', 'rate_limit_headers', 'proxy', 'allowed_members'],
          'responses_models',
        ]}
      />
    </>
  )
}

const LIMITS = [...NUMBER_FIELDS, 'priority', 'costRatio', 'expiresAt'] as const
const MAPPINGS = [...JSON_FIELDS, 'modelPrefix'] as const

export function ChannelFormFields(props: ChannelFormProps) {
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

function RoutingAndLimitFields({ form }: ChannelFormProps) {
  const { t } = useTranslation()
  const { isAutoBan } = form.draft
  const number = (name: 'priority' | 'costRatio' | (typeof NUMBER_FIELDS)[number]) => (
    <TextField
      label={t(`channelForm.${name}`)}
      hint={t(`channelForm.${name}Hint`)}
      inputMode={name === 'costRatio' ? 'decimal' : 'numeric'}
      {...form.field(name)}
    />
  )
  return (
    <>
      <div className="tg-form-row">
        {number('priority')}
        {number('weight')}
      </div>
      <div className="tg-form-row">
        {number('maxConcurrency')}
        {number('maxRpm')}
      </div>
      <div className="tg-form-row">
        {number('maxInputTokens')}
        <DateTimeField
          label={t('shared.expires')}
          hint={t('channelForm.expiresAtHint')}
          className=""
          {...form.field('expiresAt')}
        />
      </div>
      <div className="tg-form-row">
        {number('costRatio')}
        <TextField
          label={t('channels.tag')}
          hint={t('channelForm.tagHint')}
          maxLength={CHANNEL_FIELDS.tag.maxLength}
          {...form.field('tag')}
        />
      </div>
      <SwitchField
        label={t('channelForm.autoBan')}
        hint={
          <>
            {t('channelForm.autoBanHint')} {isAutoBan && <SiteWideOffWarning />}
          </>
        }
        {...form.field('isAutoBan')}
      />
    </>
  )
}

/**
 * While the site-wide option for automatic disabling is off, warns that this channel is not
 * disabled automatically.
 */
function SiteWideOffWarning() {
  const { t } = useTranslation()
  const { data: options } = useQuery(optionsQuery)
  if (options?.get('AutomaticDisableChannelEnabled') !== 'false') return null
  return (
    <span className="tg-caution">
      {t('channelForm.autoBanOff')}{' '}
      <Link to="/admin/settings?tab=models">{t('channelForm.autoBanSettings')}</Link>
    </span>
  )
}
