import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { HEALTH_TONE, type HealthKind, healthKind } from '#console/api/channel-health.ts'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { reasonText } from '#console/ui/messages/reason-text.ts'
import { useTimeLeft } from '#console/ui/state/use-countdown.ts'
import type { ChannelHealth, CircuitState } from '#read-api/contract/channel-health.ts'
import { countdownText } from './format-durations-and-rates.ts'

export function StateCell({ channel }: { channel: ChannelHealth }) {
  const { t } = useTranslation()
  const kind = healthKind(channel)
  return (
    <span className="tg-health-state">
      <StatusTag tone={HEALTH_TONE[kind]}>{t(`health.kind.${kind}`)}</StatusTag>
      <StateReason channel={channel} kind={kind} />
    </span>
  )
}

function StateReason(props: { channel: ChannelHealth; kind: HealthKind }) {
  const { t } = useTranslation()
  const { channel, kind } = props
  if (kind === 'autoDisabled') {
    return <span className="tg-health-why">{reasonText(t, channel.status_reason)}</span>
  }
  const { circuits } = channel
  const channelCircuit = circuits.find(
    ({ model, key_index: key }) => model === null && key === null,
  )
  const first = channelCircuit ?? circuits[0]
  if (first === undefined || kind === 'disabled') return null
  return (
    <span className="tg-health-why" title={reasonText(t, first.reason)}>
      {kind === 'degraded' && t('health.openCircuits', { count: channel.circuits.length })}
      {kind === 'open' && <Countdown until={first.until} />}
      {kind !== 'degraded' && <span>{reasonText(t, first.reason)}</span>}
    </span>
  )
}

export function CircuitLine({ circuit }: { circuit: CircuitState }) {
  const { t } = useTranslation()
  const { model, key_index: key, state, failures, round, until } = circuit
  const scopeName =
    model ?? (key === null ? t('health.wholeChannel') : t('health.key', { key: key + 1 }))
  return (
    <li>
      <StatusTag tone={state === 'open' ? 'bad' : 'warn'}>
        {t(state === 'open' ? 'health.kind.open' : 'health.kind.halfOpen')}
      </StatusTag>
      <b>{scopeName}</b>
      <span>{reasonText(t, circuit.reason)}</span>
      <span className="tg-muted">{t('health.opened', { count: failures, round })}</span>
      {state === 'open' ? <Countdown until={until} /> : <span>{t('health.probing')}</span>}
    </li>
  )
}

const TICK_MS = 1_000

function Countdown({ until }: { until: number }) {
  const { t } = useTranslation()
  // Converts `until` to a time on the clock of `performance.now()`. Changes of the system clock do
  // not affect this clock.
  const end = useMemo(() => performance.now() + until - Date.now(), [until])
  const left = useTimeLeft(end, TICK_MS)
  return (
    <span className="tg-health-count">
      {left === 0 ? t('health.probeDue') : t('health.timeLeft', { time: countdownText(left) })}
    </span>
  )
}
