import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { reasonText } from '#console/ui/channel-reason.ts'
import { Time } from '#console/ui/time.tsx'
import type { Channel } from '#read-api/contract/channel.ts'
import type { ChannelFormProps } from './channel-form-props.ts'

/** Keys that failed and are not used for now: why, since when, and back again. */
export function KeysAside(
  props: Pick<ChannelFormProps, 'draft' | 'onChange'> & { channel: Channel },
): ReactElement {
  const { channel, draft, onChange } = props
  const { t } = useTranslation()
  const count = channel.key_count
  const aside = channel.keys_set_aside
  const toggle = (index: number) => {
    const isBack = draft.enableKeys.includes(index)
    const others = draft.enableKeys.filter((other) => other !== index)
    onChange({ enableKeys: isBack ? others : [...others, index].sort((a, b) => a - b) })
  }
  return (
    <div className="tg-field">
      <p className="tg-hint">
        {aside.length === 0
          ? t('channelForm.keysInUse', { count })
          : t('channelForm.keysAside', { count, aside: aside.length })}
      </p>
      {aside.length > 0 && (
        <ul className="tg-keys-aside-list">
          {aside.map(({ index, reason, time }) => {
            const isBack = draft.enableKeys.includes(index)
            const name = t('channelForm.keyAt', { place: index + 1 })
            return (
              <li key={index}>
                <span className="tg-cell-strong">{name}</span>
                <span className="tg-keys-aside-reason">
                  {reasonText(t, reason)} {time > 0 && <Time at={time} />}
                </span>
                <Button
                  size="small"
                  isPressed={isBack}
                  label={t(isBack ? 'channelForm.leaveAside' : 'channelForm.takeBack', { name })}
                  onClick={() => toggle(index)}
                >
                  {t(isBack ? 'channelForm.backOnSave' : 'channelForm.takeBackShort')}
                </Button>
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}
