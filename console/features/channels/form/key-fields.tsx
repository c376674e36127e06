import { useTranslation } from 'react-i18next'
import { currentLanguage } from '#console/i18n/i18n.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { RadioCards } from '#console/ui/forms/choice-inputs.tsx'
import { PasswordField, TextAreaField } from '#console/ui/forms/fields.tsx'
import { reasonText } from '#console/ui/messages/reason-text.ts'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { type ChannelFormProps, type KeyMode, keysOf, needsKeyReentry } from './channel-draft.ts'

function DisabledKeys(props: Pick<ChannelFormProps, 'form'> & { channel: Channel }) {
  const { channel } = props
  const { draft, change } = props.form
  const { t } = useTranslation()
  const count = channel.key_count
  const aside = channel.keys_set_aside
  const toggle = (index: number) => {
    const isReenabled = draft.keyIndexesToEnable.includes(index)
    const others = draft.keyIndexesToEnable.filter((other) => other !== index)
    change({ keyIndexesToEnable: isReenabled ? others : [...others, index].sort((a, b) => a - b) })
  }
  return (
    <div className="tg-field">
      <p className="tg-hint">
        {aside.length === 0
          ? t('channelForm.keysInUse', { count })
          : t('channelForm.keysSetAside', { count, aside: aside.length })}
      </p>
      {aside.length > 0 && (
        <ul className="tg-keys-aside-list">
          {aside.map(({ index, reason, time }) => {
            const isReenabled = draft.keyIndexesToEnable.includes(index)
            const name = t('channelForm.keyNumber', { place: index + 1 })
            return (
              <li key={index}>
                <span className="tg-cell-strong">{name}</span>
                <span className="tg-keys-aside-reason">
                  {reasonText(t, reason)} {time > 0 && <Time at={time} />}
                </span>
                <Button
                  size="small"
                  isPressed={isReenabled}
                  label={t(isReenabled ? 'channelForm.keepKeySetAside' : 'channelForm.reuseKey', {
                    name,
                  })}
                  onClick={() => toggle(index)}
                >
                  {t(isReenabled ? 'channelForm.reusedOnSave' : 'channelForm.reuseKeyShort')}
                </Button>
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}

const NEW_MODES = ['single', 'batch', 'multi_to_single'] as const
const STORED_MODES = ['append', 'replace'] as const

export function KeyFields(props: ChannelFormProps) {
  const { form, stored, channel } = props
  const { draft } = form
  const { t } = useTranslation()
  const hasSeveralKeys = channel !== null && channel.multi_key_mode !== ''
  const usesSeveralKeys = hasSeveralKeys || draft.keyMode === 'multi_to_single'
  const canAppend = hasSeveralKeys && stored !== null && !needsKeyReentry(stored, draft)
  return (
    <>
      {channel === null && <Modes {...props} modes={NEW_MODES} />}
      {canAppend && <Modes {...props} modes={STORED_MODES} />}
      <Keys {...props} hasSeveralKeys={hasSeveralKeys || takesSeveralKeys(draft.keyMode)} />
      {usesSeveralKeys && (
        <RadioCards
          label={t('channelForm.multiKeyMode')}
          choices={CHANNEL_FIELDS.keyMode.values
            .filter((mode) => mode !== '')
            .map((value) => ({
              value,
              label: t(`channelForm.keyChoice.${value}`),
              hint: t(`channelForm.keyChoice.${value}Hint`),
            }))}
          {...form.field('multiKeyMode')}
        />
      )}
      {hasSeveralKeys && <DisabledKeys {...props} channel={channel} />}
    </>
  )
}

function Modes(props: ChannelFormProps & { modes: readonly KeyMode[] }) {
  const { t } = useTranslation()
  return (
    <RadioCards
      label={t('channelForm.keyMode')}
      choices={props.modes.map((value) => ({
        value,
        label: t(`channelForm.mode.${value}`),
        hint: t(`channelForm.mode.${value}Hint`),
      }))}
      {...props.form.field('keyMode')}
    />
  )
}

const takesSeveralKeys = (mode: KeyMode): boolean => mode === 'batch' || mode === 'multi_to_single'

function Keys(props: ChannelFormProps & { hasSeveralKeys: boolean }) {
  const { form, stored, type, hasSeveralKeys } = props
  const { draft } = form
  const { t } = useTranslation()
  const isReentryNeeded = stored !== null && needsKeyReentry(stored, draft)
  const count = keysOf(draft).length
  const hints = [
    stored === null
      ? ''
      : t(isReentryNeeded ? 'channelForm.keyReentryHint' : 'channelForm.keyKeptHint'),
    hasSeveralKeys ? t('channelForm.keyLines', { count }) : '',
    stored === null ? (type?.key_hint[currentLanguage()] ?? '') : '',
  ].filter((hint) => hint !== '')
  const shared = {
    label: t('shared.key'),
    hint: hints.length === 0 ? undefined : hints.join(' '),
    isRequired: stored === null || isReentryNeeded,
    isMono: true,
    ...form.field('key'),
  }
  return hasSeveralKeys ? (
    <TextAreaField
      {...shared}
      rows={5}
      autoComplete="off"
      placeholder={t('channelForm.keysPlaceholder')}
    />
  ) : (
    <PasswordField
      {...shared}
      isKey
      autoComplete="new-password"
      placeholder={t('channelForm.keyPlaceholder')}
    />
  )
}
