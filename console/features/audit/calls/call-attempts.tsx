import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { reasonText } from '#console/ui/messages/reason-text.ts'
import type { CallExplanation, ExplainedAttempt } from '#read-api/contract/calls.ts'
import { Hash } from '../elements/amounts-and-hashes.tsx'
import { Facts } from '../elements/small-tables.tsx'

export function CallAttempts({ call }: { call: CallExplanation }) {
  const { t } = useTranslation()
  const isOtherModel = call.usage?.anomaly === 'other-model'
  return (
    <Panel title={t('audit.call.attempts')} lead={t('audit.call.attemptsLead')}>
      {isOtherModel && <Alert tone="bad">{t('audit.call.otherModel')}</Alert>}
      {call.attempts.length === 0 ? (
        <p className="tg-muted">{t('audit.call.noAttempts')}</p>
      ) : (
        <ol className="tg-audit-attempts">
          {call.attempts.map((attempt, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of attempts never changes
            <Attempt key={index} attempt={attempt} number={index + 1} />
          ))}
        </ol>
      )}
    </Panel>
  )
}

function Attempt({ attempt, number }: { attempt: ExplainedAttempt; number: number }) {
  const { t } = useTranslation()
  const digits = useNumberFormat()
  const { channel_id: id, channel_name: name, error, status } = attempt
  const isFailed = error !== null
  const statusText = status === null ? '' : `HTTP ${status}`
  const reason = error === null || error === 'status' ? '' : reasonText(t, error)
  const outcome = [statusText, reason].filter((text) => text !== '').join(' · ')
  const because =
    attempt.after_error === null
      ? t(`audit.call.reason.${attempt.reason}`)
      : t('audit.call.reasonAfter', {
          reason: t(`audit.call.reason.${attempt.reason}`),
          error: reasonText(t, attempt.after_error),
        })
  return (
    <li>
      <header>
        <strong>
          {id === null
            ? t('audit.call.attempt', { number })
            : t('audit.call.attemptOn', { number, channel: name || `#${id}` })}
        </strong>
        <StatusTag tone={isFailed ? 'bad' : 'good'}>
          {outcome === '' ? t('audit.call.attemptDone') : outcome}
        </StatusTag>
        <span className="tg-muted">{digits.format(attempt.latency_ms)} ms</span>
      </header>
      <p className="tg-muted">{because}</p>
      {attempt.is_account_rejected && <p>{t('audit.call.accountRejected')}</p>}
      <Evidence attempt={attempt} />
    </li>
  )
}

/**
 * Shows the evidence of an attempt (the sending of a call to one provider). The evidence is the
 * provider's report and the hashes of the sent and received data. Calls made with earlier versions
 * of Tallygate have no evidence.
 */
function Evidence({ attempt: { evidence } }: { attempt: ExplainedAttempt }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  if (evidence === null) return null
  const digest = (part: { bytes: number; sha256: string } | undefined) =>
    part !== undefined && (
      <span className="tg-audit-digest">
        {t('audit.call.bytes', { count: part.bytes, bytes: number.format(part.bytes) })}
        <Hash value={part.sha256} />
      </span>
    )
  const fingerprint = Object.entries(evidence.fingerprint ?? {})
  const sentAt = evidence.sent_at === undefined ? 0 : Math.floor(evidence.sent_at / 1000)
  return (
    <Facts
      facts={[
        [
          t('audit.call.providerRequest'),
          evidence.request_id !== undefined && <Hash value={evidence.request_id} />,
        ],
        [t('audit.call.servedModel'), evidence.model ?? ''],
        [
          t('audit.call.fingerprint'),
          fingerprint.length > 0 && (
            <code>{fingerprint.map(([name, value]) => `${name}: ${value}`).join(', ')}</code>
          ),
        ],
        [t('audit.call.host'), evidence.host ?? ''],
        [t('audit.call.sentAt'), sentAt > 0 && stamp(sentAt)],
        [t('audit.call.file'), digest(evidence.file)],
        [t('audit.call.sent'), digest(evidence.sent)],
        [t('audit.call.received'), digest(evidence.received)],
      ]}
    />
  )
}
