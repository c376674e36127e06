import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { optionsQuery } from '#console/api/options.ts'
import { SwitchField } from '#console/ui/forms/choice-inputs.tsx'
import { DateTimeField, TextField } from '#console/ui/forms/fields.tsx'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import type { ChannelFormProps, NUMBER_FIELDS } from './channel-draft.ts'

export function RoutingAndLimitFields({ form }: ChannelFormProps) {
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
 * Warns that this channel is not disabled automatically, because the option that enables automatic
 * disabling for the whole site is off.
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
