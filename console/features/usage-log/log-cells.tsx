import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { failureName, parseOtherField } from '#console/api/usage-log-queries.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { AmountText } from '#console/ui/quota/amount-text.tsx'
import { callPriceOfBatch, listedPriceOf, priceProperty } from '#console/ui/quota/listed-price.ts'
import { dollarText, exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'
import {
  durationMs,
  type Pace,
  paceOfDuration,
  paceOfFirstToken,
  retriesOf,
  shortDuration,
} from './call-timing.ts'
import { CONSUMPTION, ERROR, TYPE_TONES, typeName } from './log-type.ts'

function TypeCell({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const name = typeName(row.type)
  if (name === null) return <span>{row.type}</span>
  return <StatusTag tone={TYPE_TONES[name]}>{t(`usageLog.type.${name}`)}</StatusTag>
}

export function ModelCell(props: { row: LogEntry; onFilter: (model: string) => void }) {
  const { model_name: model } = props.row
  if (model === '') return <TypeCell row={props.row} />
  return <FilterValue value={model} onFilter={() => props.onFilter(model)} />
}

export function StatusCell({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  if (row.type === ERROR) return <StatusTag tone="bad">{t('shared.failed')}</StatusTag>
  if (row.type !== CONSUMPTION) return <TypeCell row={row} />
  const { end: endCode, anomaly } = parseOtherField(row)
  const end = failureName(endCode)
  if (end !== null) return <StatusTag tone="warn">{t(`usageLog.endShort.${end}`)}</StatusTag>
  if (anomaly) return <StatusTag tone="warn">{t('usageLog.anomaly')}</StatusTag>
  return (
    <span className="tg-log-done">
      <Icon name="check" size={14} />
      {t('shared.done')}
    </span>
  )
}

/**
 * The lowest count that is shortened. The column has space for the exact text of smaller counts
 * only.
 */
const SHORTENED_FROM = 100_000

export type CountFormats = { readonly exact: Intl.NumberFormat; readonly short: Intl.NumberFormat }

/**
 * Shows a count. A large count is shortened to a text such as “123K”, and a tooltip shows the exact
 * count.
 */
export function TokenCount(props: { value: number; formats: CountFormats }) {
  const { value, formats } = props
  if (value < SHORTENED_FROM) return <>{formats.exact.format(value)}</>
  return <span title={formats.exact.format(value)}>{formats.short.format(value)}</span>
}

export function RatioCell({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const { model_price: price, ...other } = parseOtherField(row)
  const group = other.price?.group ?? other.group_ratio
  const { batch_ratio: batch } = other
  const ofBatch = batch === undefined ? [] : [`${t('shared.factor.batch')} ${batch}`]
  const batchText = batch === undefined ? '' : ` / ${batch}`
  if (price !== undefined) {
    const exact = other.price ?? callPriceOfBatch(other, price)
    const text = `$${exact.price ?? price} / ${group}${batchText}`
    const name = exact.per === undefined ? 'price' : 'pricePerSecond'
    const listed = listedPriceOf(exact)
    const factors = [
      `${t(`shared.factor.${name}`)} ${listed.price}`,
      ...listed.properties.map((one) => `${priceProperty(t, one)} ×${one.ratio}`),
      `${t('shared.factor.group')} ${group}`,
      ...ofBatch,
    ]
    return <span title={factors.join(' · ')}>{text}</span>
  }
  const model = other.price?.model ?? other.model_ratio
  if (model === undefined) return <span className="tg-muted">–</span>
  const completion = other.price?.completion ?? other.completion_ratio
  const explanation = [
    `${t('shared.factor.model')} ${model}`,
    `${t('shared.factor.completion')} ${completion}`,
    `${t('shared.factor.group')} ${group}`,
    ...ofBatch,
  ]
  // The ratio may have 30 decimals. Only the tooltip shows all of them.
  const shown = Number(Number(completion).toFixed(6))
  return <span title={explanation.join(' · ')}>{`${model} / ${shown} / ${group}${batchText}`}</span>
}

/**
 * Shows the charge of a call. For other rows, such as a top-up, shows the amount that was credited
 * (+) or deducted (-).
 */
export function CostCell({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const quota = BigInt(row.quota)
  const money = (value: number): string => exactQuotaText(BigInt(value), rule)
  if (row.type !== CONSUMPTION && quota === 0n) return <span className="tg-muted">–</span>
  const isGain = row.type !== CONSUMPTION && quota > 0n
  const hasSixDecimals = row.type === CONSUMPTION && rule.isCurrency
  const text = hasSixDecimals ? dollarText(quota, rule, 6) : exactQuotaText(quota, rule)
  const corrected = parseOtherField(row).corrected_by?.at(-1)?.corrected
  return (
    <>
      {/* The mark is before the amount, because the amounts of the column are aligned. */}
      {corrected !== undefined && (
        <CorrectedMark text={t('usageLog.correctedTo', { amount: money(corrected) })} />
      )}
      <AmountText
        text={isGain ? `+${text}` : text}
        title={t('shared.quotaUnits', { quota: `${row.quota}` })}
        {...(isGain ? { className: 'tg-log-gain' } : {})}
      />
    </>
  )
}

/**
 * Marks a row whose charge was corrected later. The amount in the row is still the original charge.
 */
function CorrectedMark({ text }: { text: string }) {
  return (
    <span className="tg-log-corrected" title={text}>
      <Icon name="edit" size={12} />
      <span className="tg-visually-hidden">{text}</span>
    </span>
  )
}

export function RetryCell({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const other = parseOtherField(row)
  const count = retriesOf(other)
  if (count === 0) return <span className="tg-muted">–</span>
  return (
    <span title={t('usageLog.retries', { count })}>
      {other.admin_info?.use_channel.join(' → ')}
    </span>
  )
}

export function DetailsCell({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const other = parseOtherField(row)
  const end = failureName(other.end)
  const isCall = row.type === CONSUMPTION || row.type === ERROR
  return (
    <span className="tg-log-note">
      {end !== null && t(`usageLog.end.${end}`)}
      {other.error_code !== undefined && <code>{other.error_code}</code>}
      {end === null && isCall && t(row.is_stream ? 'usageLog.stream' : 'usageLog.notStreamed')}
      {!isCall && row.content}
    </span>
  )
}

export function FilterValue(props: {
  /** The name of the value for screen readers. */
  value: string
  onFilter: () => void
  children?: ReactNode
}) {
  const { t } = useTranslation()
  if (props.value === '') return <span className="tg-muted">–</span>
  return (
    <button
      type="button"
      className="tg-cell-button"
      tabIndex={-1}
      title={t('usageLog.filterByValue', { value: props.value })}
      onClick={props.onFilter}
    >
      {props.children || props.value}
    </button>
  )
}

export function DurationCell({ row }: { row: LogEntry }) {
  const ms = row.request_id === '' ? null : durationMs(row, parseOtherField(row))
  if (ms === null) return <span className="tg-muted">–</span>
  // The duration of a failed call gets no rating, because a quick failure is not a good result.
  if (row.type === ERROR) return <span>{shortDuration(ms)}</span>
  return <PaceText pace={paceOfDuration(ms / 1000)} text={shortDuration(ms)} />
}

export function FirstTokenCell({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const { frt } = parseOtherField(row)
  if (row.request_id !== '' && !row.is_stream) {
    return <span className="tg-log-mode">{t('usageLog.notStreamed')}</span>
  }
  if (frt === undefined || row.type === ERROR) return <span className="tg-muted">–</span>
  return <PaceText pace={paceOfFirstToken(frt)} text={shortDuration(frt)} />
}

/**
 * Shows a duration and its rating: good, slow or bad. The rating is shown by a label, a color and,
 * except for `good`, an icon, because some users can't distinguish the colors.
 */
function PaceText(props: { pace: Pace; text: string }) {
  const { t } = useTranslation()
  const label = t(`usageLog.pace.${props.pace}`)
  return (
    <span className={`tg-log-pace tg-log-pace-${props.pace}`} title={label}>
      {props.pace !== 'good' && (
        <>
          <Icon name={props.pace === 'slow' ? 'clock' : 'alert'} size={13} />
          <span className="tg-visually-hidden">{label}</span>
        </>
      )}
      {props.text}
    </span>
  )
}
