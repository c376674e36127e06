import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { optionsQuery } from '#console/api/options.ts'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Switch } from '#console/ui/switches.tsx'
import type { NUMBER_FIELDS } from './channel-draft.ts'
import type { ChannelFormProps } from './channel-form-props.ts'

/** When a channel is chosen, how much it is asked for, until when, and at what cost. */
export function LimitFields(props: ChannelFormProps): ReactElement {
  const { draft, faults, onChange } = props
  const { t } = useTranslation()
  return (
    <>
      <div className="tg-form-row">
        <NumberField {...props} field="priority" />
        <NumberField {...props} field="weight" />
      </div>
      <div className="tg-form-row">
        <NumberField {...props} field="maxConcurrency" />
        <NumberField {...props} field="maxRpm" />
      </div>
      <div className="tg-form-row">
        <NumberField {...props} field="maxInputTokens" />
        <FormField
          label={t('channelForm.expiresAt')}
          hint={t('channelForm.expiresAtHint')}
          error={faults.expiresAt && t(`channelForm.fault.${faults.expiresAt}`)}
        >
          {(control) => (
            <TextInput
              {...control}
              type="datetime-local"
              max="9999-12-31T23:59"
              value={draft.expiresAt}
              onChange={(expiresAt) => onChange({ expiresAt })}
            />
          )}
        </FormField>
      </div>
      <div className="tg-form-row">
        <NumberField {...props} field="costRatio" />
        <FormField label={t('channels.tag')} hint={t('channelForm.tagHint')}>
          {(control) => (
            <TextInput
              {...control}
              maxLength={200}
              value={draft.tag}
              onChange={(tag) => onChange({ tag })}
            />
          )}
        </FormField>
      </div>
      <Switch
        label={t('channelForm.autoBan')}
        hint={
          <>
            {t('channelForm.autoBanHint')} {draft.autoBan && <OffForTheSite />}
          </>
        }
        isOn={draft.autoBan}
        onChange={(autoBan) => onChange({ autoBan })}
      />
    </>
  )
}

/** What the channel allows does nothing while the site does not. */
function OffForTheSite(): ReactElement | null {
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

function NumberField(
  props: ChannelFormProps & { field: 'priority' | 'costRatio' | (typeof NUMBER_FIELDS)[number] },
): ReactElement {
  const { draft, field, faults, onChange } = props
  const { t } = useTranslation()
  const fault = faults[field]
  return (
    <FormField
      label={t(`channelForm.${field}`)}
      hint={t(`channelForm.${field}Hint`)}
      error={fault && t(`channelForm.fault.${fault}`)}
    >
      {(control) => (
        <TextInput
          {...control}
          inputMode={field === 'costRatio' ? 'decimal' : 'numeric'}
          value={draft[field]}
          onChange={(value) => onChange({ [field]: value })}
        />
      )}
    </FormField>
  )
}
