import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { chatModelsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { failureName, parseOtherField } from '#console/api/usage-log-queries.ts'
import { useLocale, useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { anomalyText } from '#console/ui/elements/anomaly-text.ts'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { LabelledValues, type NamedValue } from '#console/ui/elements/labelled-value.tsx'
import { absoluteTimeText } from '#console/ui/elements/time-text.ts'
import { isPriceOfMedia } from '#console/ui/quota/listed-price.ts'
import { exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogEntry, LoggedUsage, LogOther } from '#read-api/contract/logs.ts'
import { AttemptWaterfall } from './attempt-waterfall.tsx'
import { durationMs, shortDuration, tokensPerSecond } from './call-timing.ts'
import { ChannelLink } from './channel-link.tsx'
import { FailureExplanation } from './failure-explanation.tsx'
import { ERROR, typeName } from './log-type.ts'
import { PriceExplanationTable } from './price-explanation-table.tsx'

export function LogDetails(props: { row: LogEntry; isAdmin: boolean }) {
  const other = parseOtherField(props.row)
  const isFailed = props.row.type === ERROR
  const isCall = other.price !== undefined || props.row.request_id !== ''
  return (
    <div className="tg-log-details">
      {isFailed && <FailureExplanation row={props.row} />}
      {!isFailed && isCall && <PriceExplanationTable row={props.row} />}
      <div className="tg-log-aside">
        <LogFacts row={props.row} />
        {props.isAdmin && <AttemptWaterfall row={props.row} />}
      </div>
    </div>
  )
}

function LogFacts({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const facts = useFacts(row, parseOtherField(row))
  return (
    <section aria-label={t('logDetails.fact.title')}>
      <h3>{t('logDetails.fact.title')}</h3>
      <LabelledValues className="tg-log-facts" values={facts} />
      <PlaygroundLink row={row} />
    </section>
  )
}

/**
 * Links to the playground with the model and the group of the call. The link is hidden for videos,
 * images and batches, and if the user may not use the model.
 */
function PlaygroundLink({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  // The playground supports only chats.
  const { price = {}, batch_id: batch } = parseOtherField(row)
  const isCall = row.request_id !== '' && batch === undefined && !isPriceOfMedia(price)
  const models = useQuery({ ...chatModelsQuery, enabled: isCall }).data
  if (!isCall || models?.includes(row.model_name) !== true) return null
  const playgroundParams = new URLSearchParams({ model: row.model_name, group: row.group })
  return (
    <p className="tg-log-try">
      <Link to={`/playground?${playgroundParams}`}>{t('logDetails.toPlayground')}</Link>
    </p>
  )
}

const END_REASONS = [
  'user_disabled',
  'session_ended',
  'invalid_key',
  'token_disabled',
  'token_expired',
  'ip_not_allowed',
  'group_not_allowed',
  'balance_spent',
  'token_exhausted',
] as const

/**
 * Returns the code for the reason why a call ended early, or undefined if there is no reason to
 * show. The end `balance-spent` is shown without a reason, because its name already says the
 * reason.
 */
const shownEndReason = ({ end, end_reason: reason }: LogOther) =>
  end === 'balance-spent' ? undefined : END_REASONS.find((code) => code === reason)

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  ...{ chat: 'OpenAI Chat', completions: 'OpenAI Completions', responses: 'OpenAI Responses' },
  ...{ messages: 'Anthropic Messages', gemini: 'Gemini' },
  ...{ images: 'OpenAI Images', 'image-edits': 'OpenAI Image Edits', rerank: 'Rerank' },
  ...{ 'image-variations': 'OpenAI Image Variations', 'gemini-images': 'Gemini Images' },
  ...{ embeddings: 'OpenAI Embeddings', moderations: 'OpenAI Moderations' },
  ...{ 'gemini-embedding': 'Gemini Embeddings', 'gemini-embedding-batch': 'Gemini Embeddings' },
  ...{ realtime: 'OpenAI Realtime', speech: 'OpenAI Speech' },
  ...{ transcriptions: 'OpenAI Transcriptions', translations: 'OpenAI Translations' },
}

/** Shows the API format of the request and, if the call was converted, the provider's format. */
const Formats = ({ other: { request_conversion: formats = ['chat'] } }: { other: LogOther }) =>
  formats.map((name) => FORMAT_NAMES[name] ?? name).join(' → ')

/** Returns what was requested, the format of the request, and what the provider did not get. */
const requestFacts = (t: TFunction, other: LogOther, isChat: boolean): NamedValue[] => [
  [
    t('logDetails.fact.requested'),
    other.requested && `${other.requested.model} · ${other.requested.group}`,
  ],
  [t('logDetails.fact.format'), isChat && <Formats other={other} />],
  [t('logDetails.fact.dropped'), other.dropped_members?.join(', ')],
  [t('logDetails.fact.losses'), other.conversion_loss?.join(', ')],
]

function useFacts(row: LogEntry, other: LogOther): NamedValue[] {
  const { t } = useTranslation()
  const locale = useLocale()
  const number = useNumberFormat({ maximumFractionDigits: 1 })
  const isCall = row.request_id !== ''
  const isFailed = row.type === ERROR
  const { hold, unpaid_usage: unpaid, reasoning_tokens: reasoning } = other
  const facts: NamedValue[] = []
  const add = (name: string, value: ReactNode): void => {
    facts.push([name, value])
  }
  add(t('shared.time'), absoluteTimeText(row.created_at, locale))
  const type = typeName(row.type)
  add(t('shared.type'), type === null ? row.type : t(`usageLog.type.${type}`))
  add(t('shared.requestId'), isCall && <RequestId id={row.request_id} />)
  add(
    t('shared.channel'),
    row.channel > 0 && <ChannelLink id={row.channel} name={row.channel_name} />,
  )
  add(t('logDetails.fact.upstreamModel'), other.upstream_model_name)
  // For a failed call, `FailureExplanation` already shows how the call ended.
  add(t('shared.end'), isCall && !isFailed && <CallEnd other={other} />)
  const endReason = shownEndReason(other)
  add(t('logDetails.fact.endReason'), endReason && t(`logDetails.endReason.${endReason}`))
  if (isCall) {
    const ms = durationMs(row, other)
    const duration = ms === null ? t('logDetails.durationUnknown') : shortDuration(ms)
    add(t('logDetails.fact.duration'), duration)
    add(t('logDetails.fact.firstToken'), other.frt === undefined ? '' : shortDuration(other.frt))
    const speed = tokensPerSecond(row, other)
    const speedText = speed === null ? '' : t('logDetails.speed', { value: number.format(speed) })
    add(t('logDetails.fact.speed'), speedText)
    add(t('shared.mode'), t(row.is_stream ? 'usageLog.stream' : 'usageLog.notStreamed'))
    add(t('ui.groupName'), row.group !== '' && <GroupTag name={row.group} />)
    // Tasks have no tokens and no time to the first token.
    const hasTokens = other.frt !== undefined || row.prompt_tokens + row.completion_tokens > 0
    const isChat = hasTokens && other.batch_id === undefined
    facts.push(...requestFacts(t, other, isChat))
    const isHeld = !isFailed && hold !== undefined
    add(t('shared.hold'), isHeld && <Hold hold={hold} charged={row.quota} />)
  }
  add(t('logDetails.fact.cache'), other.cache_hit_rate !== undefined && <CacheUse other={other} />)
  add(t('logDetails.fact.effort'), other.reasoning_effort)
  add(t('logDetails.fact.reasoning'), reasoning && number.format(reasoning))
  add(
    t('logDetails.fact.source'),
    other.usage_source !== undefined && <UsageSource other={other} />,
  )
  add(t('logDetails.fact.anomaly'), other.anomaly && anomalyText(t, other.anomaly))
  const limit = other.output_limit && number.format(other.output_limit)
  add(t('logDetails.fact.outputLimit'), limit && t('logDetails.limitedTo', { limit }))
  add(t('logDetails.fact.unpaidUsage'), unpaid && <TotalUsage usage={unpaid} />)
  add(t('logDetails.fact.corrected'), other.corrected_by && <Corrections other={other} />)
  add(t('logDetails.fact.batch'), other.batch_id && <BatchPart other={other} />)
  add(t('logDetails.fact.ip'), row.client_ip)
  add(t('logDetails.fact.content'), !isFailed && row.content)
  add(t('logDetails.fact.changedBy'), other.changed_by && nameOf(other.changed_by))
  add(t('logDetails.fact.note'), other.note === null ? t('shared.noReason') : other.note)
  return facts
}

/**
 * Shows the corrections of the charge: the corrected amount, the time and the reason. The events of
 * the corrections are on the page of the call.
 */
function Corrections({ other: { corrected_by: all = [] } }: { other: LogOther }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const rule = useMoneyRule()
  return all.map(({ correction_id: id, corrected, created_at: at, reason }) => (
    <span key={`${id} ${at}`} className="tg-log-correction">
      {t('logDetails.correctedAt', {
        amount: exactQuotaText(BigInt(corrected), rule),
        time: absoluteTimeText(at, locale),
      })}
      {reason !== '' && <q>{reason}</q>}
    </span>
  ))
}

/**
 * Shows the id of a batch and the price ratio of its requests. Also shows how many requests of the
 * batch this row covers, and how many of these requests were charged. A row covers requests of the
 * batch that have the same model and price.
 */
function BatchPart({ other }: { other: LogOther }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { batch_lines: count = 0, batch_lines_billed: billed, batch_ratio: ratio } = other
  const lines = number.format(count)
  return (
    <>
      <code>{other.batch_id}</code>
      {count > 0 && billed === undefined && ` · ${t('logDetails.batchLines', { count, lines })}`}
      {billed !== undefined &&
        ` · ${t('logDetails.batchLinesBilled', { count, lines, billed: number.format(billed) })}`}
      {ratio !== undefined && ` · ${t('logDetails.batchPrice', { ratio })}`}
    </>
  )
}

/**
 * Shows the total usage that the provider reported for a call. The total is shown only if the
 * user's balance covered just a part of this usage.
 */
function TotalUsage({ usage }: { usage: LoggedUsage }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { inputUncached = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage
  const { inputAudio = 0, inputImage = 0, output = 0 } = usage
  const input = inputUncached + cacheRead + cacheWrite5m + cacheWrite1h + inputAudio + inputImage
  const counts = { input: number.format(input), output: number.format(output) }
  return <>{t('logDetails.totalUsage', counts)}</>
}

function CacheUse({
  other: { cache_hit_rate: rate = 0, cache_saved: saved = 0 },
}: {
  other: LogOther
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const percent = useNumberFormat({ style: 'percent', maximumFractionDigits: 1 })
  const values = { rate: percent.format(rate), quota: number.format(Math.abs(saved)) }
  return <>{t(saved < 0 ? 'logDetails.cacheCost' : 'logDetails.cacheSaved', values)}</>
}

const nameOf = ({ id, username }: NonNullable<LogOther['changed_by']>) => username || `#${id}`

function Hold(props: { hold: number; charged: number }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const back = number.format(Math.max(0, props.hold - props.charged))
  return <>{t('logDetails.holdReturned', { hold: number.format(props.hold), back })}</>
}

function RequestId({ id }: { id: string }) {
  const { t } = useTranslation()
  return (
    <span className="tg-log-request">
      <Link to={`/app/calls/${id}`}>
        <code>{id}</code>
      </Link>
      <CopyButton text={id} label={t('shared.copyRequestId')} />
    </span>
  )
}

function CallEnd({ other }: { other: LogOther }) {
  const { t } = useTranslation()
  return <>{t(`usageLog.end.${failureName(other.end) ?? 'done'}`)}</>
}

function UsageSource({ other }: { other: LogOther }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { usage_source: source, anomaly, batch_lines_estimated: estimated } = other
  const { batch_lines_billed: count = 0 } = other
  if (estimated !== undefined && estimated < count) {
    const counts = { count, lines: number.format(count), estimated: number.format(estimated) }
    return <>{t('logDetails.source.estimatedLines', counts)}</>
  }
  if (source === 'upstream' && anomaly === 'absurd') return <>{t('logDetails.source.limited')}</>
  if (source === 'upstream' || source === 'estimated' || source === 'partial') {
    return <>{t(`logDetails.source.${source}`)}</>
  }
  return <>{source}</>
}
