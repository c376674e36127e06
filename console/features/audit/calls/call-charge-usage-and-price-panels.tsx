import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { isAuditor, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { anomalyText } from '#console/ui/elements/anomaly-text.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { AmountText } from '#console/ui/quota/amount-text.tsx'
import { groupDigits } from '#console/ui/quota/money.ts'
import type { CallExplanation, PriceInForce } from '#read-api/contract/calls.ts'
import { ColumnTable, DataTable, type TableRow } from '../elements/small-tables.tsx'

/**
 * The kinds of usage whose names come from the texts of the usage log, with the translation keys of
 * these names.
 */
const COUNTS = {
  inputUncached: 'input',
  cacheRead: 'cacheRead',
  cacheWrite5m: 'cacheWrite5m',
  cacheWrite1h: 'cacheWrite1h',
  inputImage: 'inputImage',
  inputAudio: 'inputAudio',
  output: 'output',
  outputAudio: 'outputAudio',
  outputImage: 'outputImage',
  calls: 'calls',
} as const

/** The kinds of usage whose names come from the texts of the audit page of a call. */
const OTHER_COUNTS = [
  'reasoning',
  'toolCalls',
  'tools',
  'conditions',
  'images',
  'seconds',
  'characters',
  'searchUnits',
  'other-lines',
] as const

function useItemText(): (item: string) => string {
  const { t } = useTranslation()
  return (item) => {
    const tool = /^tool:(.*)$/.exec(item)?.[1]
    if (tool !== undefined) return t('logDetails.term.tool', { tool })
    const line = /^line:(.*)$/.exec(item)?.[1]
    if (line !== undefined) return t('audit.call.count.line', { line })
    const other = OTHER_COUNTS.find((name) => name === item)
    if (other !== undefined) return t(`audit.call.count.${other}`)
    if (!Object.hasOwn(COUNTS, item)) return item
    return t(`logDetails.term.${COUNTS[item as keyof typeof COUNTS]}`, { tool: '' })
  }
}

/**
 * Shows how the charge of a call was computed. Each line is a product of units, price and ratio.
 * Below the lines are their exact sum and the recorded charge. A note says whether the charge is
 * equal to the rounded sum.
 */
export function CallChargePanel({ call: { arithmetic } }: { call: CallExplanation }) {
  const { t } = useTranslation()
  const itemText = useItemText()
  if (arithmetic === null) {
    return (
      <Panel title={t('audit.call.arithmetic')}>
        <p className="tg-muted">{t('audit.call.noArithmetic')}</p>
      </Panel>
    )
  }
  const { lines, sum, rounded, charge, is_exact: isExact } = arithmetic
  const total = (key: string, name: string, amount: string): TableRow => ({
    key,
    tone: 'sum',
    cells: [name, '', '', '', <AmountText key="amount" text={groupDigits(amount)} />],
  })
  const rows: TableRow[] = [
    ...lines.map((line) => ({
      key: line.item,
      cells: [
        itemText(line.item),
        groupDigits(line.units),
        <AmountText key="price" text={line.price} />,
        <AmountText key="ratio" text={`× ${line.ratio}`} />,
        <AmountText key="amount" text={groupDigits(line.amount)} />,
      ],
    })),
    total('sum', t('audit.call.sum'), sum),
    total('charge', t('audit.call.charge'), String(charge)),
  ]
  return (
    <Panel title={t('audit.call.arithmetic')} lead={t('audit.call.arithmeticLead')}>
      <DataTable
        label={t('audit.call.arithmetic')}
        heads={[
          t('shared.item'),
          { end: t('audit.call.units') },
          { end: t('audit.call.unitPrice') },
          { end: t('ui.ratio') },
          { end: t('audit.quotaUnits') },
        ]}
        rows={rows}
      />
      <p className={isExact ? 'tg-audit-verdict' : 'tg-audit-verdict tg-audit-verdict-bad'}>
        <Icon name={isExact ? 'check' : 'alert'} size={14} />
        {isExact
          ? t('audit.call.exact')
          : t('audit.call.inexact', { computed: groupDigits(String(rounded)) })}
      </p>
    </Panel>
  )
}

export function CallUsagePanel({ call: { usage } }: { call: CallExplanation }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const itemText = useItemText()
  if (usage === null) return null
  const counts = Object.entries(usage.normalised).filter(([, value]) => value !== 0)
  const valueText = (value: unknown): string =>
    typeof value === 'number' ? number.format(value) : JSON.stringify(value)
  return (
    <Panel title={t('shared.usage')} lead={sourceText(t, usage.source ?? '')}>
      <ColumnTable
        label={t('shared.usage')}
        isShort
        rows={counts}
        rowKey={([name]) => name}
        columns={[
          [t('shared.item'), ([name]) => itemText(name)],
          [{ end: t('audit.call.units') }, ([, value]) => valueText(value)],
        ]}
      />
      {usage.anomaly !== null && (
        <p className="tg-audit-verdict tg-audit-verdict-bad">
          <Icon name="alert" size={14} />
          {t('audit.call.anomaly', { code: anomalyText(t, usage.anomaly) })}
        </p>
      )}
      {usage.raw !== null && (
        <figure className="tg-audit-raw">
          <figcaption>{t('audit.call.rawUsage')}</figcaption>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it */}
          <pre tabIndex={0}>{indented(usage.raw)}</pre>
        </figure>
      )}
    </Panel>
  )
}

const SOURCES = ['upstream', 'estimated', 'partial'] as const

function sourceText(t: TFunction, source: string): string {
  const known = SOURCES.find((name) => name === source)
  return known === undefined ? source : t(`logDetails.source.${known}`)
}

/** Indents JSON. Invalid JSON, such as a text that was cut off, is returned unchanged. */
export function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}

/**
 * Shows the price settings that applied when the call was admitted, and who made these settings.
 */
export function PricesInForce({ call: { price } }: { call: CallExplanation }) {
  const { t } = useTranslation()
  const user = useUser()
  if (price === null) return null
  return (
    <Panel
      title={t('audit.call.prices')}
      lead={t('audit.call.pricesLead', { list: String(price.list) })}
      actions={
        isAuditor(user) && (
          <Link to="/app/audit/history?object=prices:site">{t('shared.history')}</Link>
        )
      }
    >
      <InForceTable entries={price.in_force} />
    </Panel>
  )
}

/** A table of price settings, with the user who made each of them. */
export function InForceTable({ entries }: { entries: readonly PriceInForce[] }) {
  const { t } = useTranslation()
  const author = ({ set_by: by, position }: PriceInForce) =>
    by === null ? (
      <span className="tg-muted">
        {position === null ? t('audit.call.builtIn') : t('audit.unknown')}
      </span>
    ) : (
      by.name || `#${by.id}`
    )
  return (
    <ColumnTable
      label={t('audit.call.prices')}
      rows={entries}
      rowKey={({ option, name }) => `${option} ${name}`}
      columns={[
        [t('audit.call.option'), ({ option }) => <code>{option}</code>],
        [t('audit.call.entry'), ({ name }) => name],
        [{ end: t('audit.call.value') }, ({ value }) => value ?? '–'],
        [t('audit.call.setAt'), ({ set_at: at }) => (at === null ? '–' : stamp(at))],
        [t('audit.call.setBy'), author],
      ]}
    />
  )
}
