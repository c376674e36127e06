import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { Time, useNow } from '#console/ui/elements/time.tsx'
import { absoluteTimeText } from '#console/ui/elements/time-text.ts'
import { Tooltip } from '#console/ui/elements/tooltip.tsx'
import { reasonText } from '#console/ui/messages/reason-text.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import {
  type ChannelState,
  channelState,
  responseSpeed,
  type Speed,
  statusCause,
} from './channel-status-and-speed.ts'

const STATE_TONES: Readonly<Record<ChannelState, Tone>> = {
  enabled: 'good',
  disabled: 'neutral',
  autoDisabled: 'bad',
  unknown: 'neutral',
}

const SPEED_TONES: Readonly<Record<Speed, Tone>> = {
  untested: 'neutral',
  fast: 'good',
  fair: 'lime',
  slow: 'warn',
  verySlow: 'bad',
}

export function ChannelStatus({ channel }: { channel: Channel }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const state = channelState(channel.status)
  const cause = state === 'enabled' ? null : statusCause(channel.other_info)
  const tag = <StatusTag tone={STATE_TONES[state]}>{t(`shared.state.${state}`)}</StatusTag>
  if (cause === null) return tag
  const time = cause.time > 0 ? absoluteTimeText(cause.time, locale) : ''
  const reason = reasonText(t, cause.reason)
  const explanation = time === '' ? reason : t('channels.cause', { reason, time })
  return (
    <WithExplanation explanation={explanation} label={t(`shared.state.${state}`)}>
      {tag}
    </WithExplanation>
  )
}

export function TagStatus({ group }: { group: TagGroup }) {
  const { t } = useTranslation()
  const count = group.members.filter(({ status }) => status === 1).length
  const total = group.members.length
  const tone: Tone = count === 0 ? 'neutral' : count === total ? 'good' : 'warn'
  return <StatusTag tone={tone}>{t('channels.tagEnabled', { count, total })}</StatusTag>
}

export function LastTest({ channel }: { channel: Channel }) {
  const { t } = useTranslation()
  const locale = useLocale()
  if (channel.test_failure === '') {
    return <ResponseTime milliseconds={channel.response_time} isShort />
  }
  const reason = reasonText(t, channel.test_failure)
  const explanation = t('channels.cause', {
    reason,
    time: absoluteTimeText(channel.test_time, locale),
  })
  return (
    <WithExplanation explanation={explanation} label={t('shared.failed')}>
      <StatusTag tone="bad">{t('shared.failed')}</StatusTag>
    </WithExplanation>
  )
}

function WithExplanation(props: { explanation: string; label: string; children: ReactNode }) {
  return (
    <Tooltip content={props.explanation}>
      <button type="button" className="tg-bare" aria-label={`${props.label}: ${props.explanation}`}>
        {props.children}
      </button>
    </Tooltip>
  )
}

export function ChannelNote({ channel }: { channel: Channel }) {
  const { t } = useTranslation()
  const cause = channel.status === 1 ? null : statusCause(channel.other_info)
  if (cause === null && channel.test_failure === '') return null
  const reason = reasonText(t, channel.test_failure)
  return (
    <p className="tg-channel-note">
      {cause !== null && (
        <span>
          {reasonText(t, cause.reason)} {cause.time > 0 && <Time at={cause.time} />}
        </span>
      )}
      {channel.test_failure !== '' && (
        <span>
          {t('shared.testFailed', { reason })} <Time at={channel.test_time} />
        </span>
      )}
    </p>
  )
}

/**
 * Shows the response time of a channel with a rating such as “slow”. With `isShort`, the rating is
 * available only to screen readers.
 */
export function ResponseTime(props: { milliseconds: number; isShort?: boolean }) {
  const { milliseconds, isShort = false } = props
  const { t } = useTranslation()
  const speed = responseSpeed(milliseconds)
  const rating = t(`channels.speed.${speed}`)
  if (speed === 'untested') {
    return (
      <StatusTag tone="neutral" isPlain>
        {rating}
      </StatusTag>
    )
  }
  const time = t('channels.seconds', { seconds: (milliseconds / 1000).toFixed(2) })
  return (
    <span title={`${rating} · ${time}`}>
      <StatusTag tone={SPEED_TONES[speed]}>
        <span className={isShort ? 'tg-visually-hidden' : undefined}>{rating} · </span>
        {time}
      </StatusTag>
    </span>
  )
}

export function Expiry({ at }: { at: number }) {
  const { t } = useTranslation()
  const now = useNow()
  if (at <= 0) return <span className="tg-quiet">{t('shared.never')}</span>
  if (at > now) return <Time at={at} mayBeInFuture />
  return (
    <StatusTag tone="bad">
      {t('shared.state.expired')} <Time at={at} />
    </StatusTag>
  )
}

export function NameTags(props: { names: readonly string[]; areGroups?: boolean }) {
  const { names } = props
  const [first, ...others] = names
  if (first === undefined) return <span className="tg-quiet">–</span>
  return (
    <span className="tg-name-cell" title={names.join('\n')}>
      {props.areGroups === true ? (
        <GroupTag name={first} />
      ) : (
        <StatusTag tone="neutral" isPlain>
          {first}
        </StatusTag>
      )}
      {others.length > 0 && <span className="tg-more-count">+{others.length}</span>}
    </span>
  )
}
