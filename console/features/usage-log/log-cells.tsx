import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { dollarText, exactQuotaText } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { StatusTag } from '#console/ui/status-tag.tsx'
import type { LogEntry } from '#read-api/contract/log.ts'
import { retriesOf } from './attempts.ts'
import { FilterValue } from './filter-value.tsx'
import { otherOf } from './log-other.ts'
import { CONSUMPTION, ERROR, endName, TYPE_TONES, typeName } from './log-type.ts'
import { durationMs, type Pace, paceOfDuration, paceOfFirstToken, shortDuration } from './timing.ts'

export function TypeCell({ row }: { row: LogEntry }): ReactElement {
  const { t } = useTranslation()
  const name = typeName(row.type)
  if (name === null) return <span>{row.type}</span>
  return <StatusTag tone={TYPE_TONES[name]}>{t(`usageLog.type.${name}`)}</StatusTag>
}

/** The model; of rows that are no calls, what they are. */
export function ModelCell(props: {
  row: LogEntry
  onFilter: (model: string) => void
}): ReactElement {
  const { model_name: model } = props.row
  if (model === '') return <TypeCell row={props.row} />
  return <FilterValue value={model} onFilter={() => props.onFilter(model)} />
}

/** Whole duration, first token, and whether it was streamed. */
export function TimingCell({ row }: { row: LogEntry }): ReactElement {
  const { t } = useTranslation()
  if (row.request_id === '') return <span className="tg-muted">–</span>
  const other = otherOf(row)
  const ms = durationMs(row, other)
  // A call that failed soon is no fast call.
  if (row.type === ERROR) return <span className="tg-log-timing">{shortDuration(ms)}</span>
  return (
    <span className="tg-log-timing">
      <Paced pace={paceOfDuration(ms / 1000)} text={shortDuration(ms)} />
      {other.frt !== undefined && row.is_stream && (
        <Paced pace={paceOfFirstToken(other.frt)} text={shortDuration(other.frt)} isMinor />
      )}
      <span className="tg-log-mode">
        {row.is_stream ? t('usageLog.stream') : t('usageLog.plain')}
      </span>
    </span>
  )
}

function Paced(props: { pace: Pace; text: string; isMinor?: boolean }): ReactElement {
  const { t } = useTranslation()
  const words = t(`usageLog.pace.${props.pace}`)
  const title =
    props.isMinor === true ? `${t('usageLog.firstToken', { time: props.text })}: ${words}` : words
  return (
    <span className={`tg-log-pace tg-log-pace-${props.pace}`} title={title}>
      {props.text}
      {props.pace !== 'good' && <span className="tg-log-pace-mark"> {words}</span>}
    </span>
  )
}

/** What a call cost, or that it failed; what other rows gave or took, with its sign. */
export function CostCell({ row }: { row: LogEntry }): ReactElement {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const quota = BigInt(row.quota)
  if (row.type === ERROR) return <StatusTag tone="bad">{t('usageLog.failed')}</StatusTag>
  if (row.type !== CONSUMPTION && quota === 0n) return <span className="tg-muted">–</span>
  const text = rule.isCurrency ? dollarText(quota, rule, 6) : String(quota)
  const isGain = row.type !== CONSUMPTION && quota > 0n
  return (
    <span className={isGain ? 'tg-amount tg-log-gain' : 'tg-amount'} title={`${row.quota}`}>
      {isGain ? '+' : ''}
      {row.type === CONSUMPTION ? text : exactQuotaText(quota, rule)}
    </span>
  )
}

export function RetryCell({ row }: { row: LogEntry }): ReactElement {
  const { t } = useTranslation()
  const other = otherOf(row)
  const count = retriesOf(other)
  if (count === 0) return <span className="tg-muted">–</span>
  return (
    <span title={t('usageLog.retries', { count })}>
      {other.admin_info?.use_channel.join(' → ')}
    </span>
  )
}

/** What is out of the ordinary: how the call ended, an error, a note. */
export function DetailsCell({ row }: { row: LogEntry }): ReactElement {
  const { t } = useTranslation()
  const other = otherOf(row)
  const end = endName(other.end)
  const isPriced = row.type === CONSUMPTION && other.model_ratio !== undefined
  return (
    <span className="tg-log-note">
      {end !== null && (
        <StatusTag tone={row.type === ERROR ? 'bad' : 'warn'}>
          {t(`usageLog.endShort.${end}`)}
        </StatusTag>
      )}
      {other.error_code !== undefined && <code>{other.error_code}</code>}
      {end === null && isPriced && (
        <span className="tg-muted">
          {`${t('usageLog.factor.model')} ${other.price?.model ?? other.model_ratio} · `}
          {`${t('usageLog.factor.group')} ${other.price?.group ?? other.group_ratio}`}
        </span>
      )}
      {row.type !== CONSUMPTION && row.type !== ERROR && row.content}
    </span>
  )
}
