import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocale } from '#console/i18n/use-locale.ts'
import { StatusTag, type Tone } from '#console/ui/status-tag.tsx'
import { absoluteTimeText } from '#console/ui/time-text.ts'
import { Tooltip } from '#console/ui/tooltip.tsx'
import type { Channel } from '#read-api/contract/channel.ts'
import {
  type ChannelState,
  channelState,
  responseSpeed,
  type Speed,
  statusCause,
} from './channel-status.ts'

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

/** The status; why and when it was switched off, on hover and focus. */
export function ChannelStatus({ channel }: { channel: Channel }): ReactElement {
  const { t } = useTranslation()
  const locale = useLocale()
  const state = channelState(channel.status)
  const cause = state === 'enabled' ? null : statusCause(channel.other_info)
  const tag = <StatusTag tone={STATE_TONES[state]}>{t(`channels.state.${state}`)}</StatusTag>
  if (cause === null) return tag
  const time = cause.time > 0 ? absoluteTimeText(cause.time, locale) : ''
  const words = time === '' ? cause.reason : t('channels.cause', { reason: cause.reason, time })
  return (
    <Tooltip content={words}>
      <button
        type="button"
        className="tg-bare"
        aria-label={`${t(`channels.state.${state}`)}: ${words}`}
      >
        {tag}
      </button>
    </Tooltip>
  )
}

export function ResponseTime({ milliseconds }: { milliseconds: number }): ReactElement {
  const { t } = useTranslation()
  const speed = responseSpeed(milliseconds)
  const seconds = (milliseconds / 1000).toFixed(2)
  return (
    <StatusTag tone={SPEED_TONES[speed]} isPlain={speed === 'untested'}>
      {t(`channels.speed.${speed}`, { seconds })}
    </StatusTag>
  )
}

/** A whole number edited in its row: saved by Enter or on leaving, given up by Escape. */
export function InlineInteger(props: {
  label: string
  value: number
  min: number
  onSave: (value: number) => void
}): ReactElement {
  const [text, setText] = useState<string | null>(null)
  const shown = text ?? String(props.value)
  const isWrong = !/^-?\d{1,9}$/.test(shown.trim()) || Number(shown) < props.min
  const save = () => {
    if (text !== null && !isWrong && Number(shown) !== props.value) props.onSave(Number(shown))
    setText(null)
  }
  return (
    <input
      className="tg-input tg-inline-number"
      inputMode="numeric"
      aria-label={props.label}
      aria-invalid={isWrong ? true : undefined}
      value={shown}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={save}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') setText(null)
      }}
    />
  )
}
