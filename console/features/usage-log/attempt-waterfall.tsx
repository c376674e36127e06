import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { channelNameQuery, parseOtherField } from '#console/api/usage-log-queries.ts'
import { reasonText } from '#console/ui/messages/reason-text.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { type AttemptBar, attemptBars, shortDuration } from './call-timing.ts'
import { ChannelLink } from './channel-link.tsx'

/**
 * Shows the attempts of a call as bars on a common time axis. Each attempt sent the call to one
 * channel. Only admins see the attempts, because the server does not send them to other users.
 */
export function AttemptWaterfall({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const bars = attemptBars(parseOtherField(row))
  if (bars.length === 0) return null
  const totalMs = bars.reduce((sum, { ms }) => sum + ms, 0)
  return (
    <section aria-label={t('logDetails.attempts.title')}>
      <h3>{t('logDetails.attempts.title')}</h3>
      <ol className="tg-log-attempts">
        {bars.map((bar) => (
          <Attempt key={bar.index} bar={bar} row={row} />
        ))}
      </ol>
      <p className="tg-log-note">
        {t('logDetails.attempts.summary', { count: bars.length, time: shortDuration(totalMs) })}
        {bars.length > 1 && ` · ${t('logDetails.attempts.cost')}`}
      </p>
    </section>
  )
}

function Attempt({ bar, row }: { bar: AttemptBar; row: LogEntry }) {
  const { t } = useTranslation()
  const isFailed = bar.error !== null
  const status = bar.status === null ? '' : t('logDetails.attempts.status', { status: bar.status })
  // The error `status` means that the provider answered with an HTTP error status. The status
  // itself is shown, so no reason is added.
  const reason = bar.error === null || bar.error === 'status' ? null : reasonText(t, bar.error)
  const outcome = [status, reason].filter(Boolean).join(' · ')
  return (
    <li className={isFailed ? 'tg-log-attempt tg-log-attempt-failed' : 'tg-log-attempt'}>
      <span className="tg-log-attempt-name">
        <AttemptChannel id={bar.channel} row={row} />
      </span>
      <span className="tg-log-attempt-track" aria-hidden="true">
        <span
          style={{
            left: `${bar.start * 100}%`,
            width: `max(3px, ${bar.length * 100}%)`,
          }}
        />
      </span>
      <span className="tg-log-attempt-outcome">
        {outcome === '' ? t('logDetails.attempts.ok') : outcome}
      </span>
      <span className="tg-log-end">{shortDuration(bar.ms)}</span>
    </li>
  )
}

/**
 * Shows the channel of an attempt. The log row contains only the name of the last attempt's
 * channel, so the names of other channels are requested from the server.
 */
function AttemptChannel({ id, row }: { id: number; row: LogEntry }) {
  const loggedName = id === row.channel ? row.channel_name : ''
  const { data } = useQuery({ ...channelNameQuery(id), enabled: loggedName === '' })
  const name = loggedName === '' ? data : loggedName
  return name === undefined ? <>#{id}</> : <ChannelLink id={id} name={name} />
}
