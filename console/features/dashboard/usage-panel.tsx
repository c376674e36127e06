import { lazy, Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { Interval } from './chart-range.ts'
import {
  bucketText,
  type ChartMeasure,
  type ChartTexts,
  OTHER_SERIES,
  prepareUsageChart,
  type UsageChart,
} from './usage-chart-data.ts'
import { type ChartView, MEASURES } from './use-chart-view.ts'
import { useUsagePoints } from './use-usage-points.ts'

function UsageTable({ chart, formatValue, seriesName }: ChartTexts) {
  const { t } = useTranslation()
  const cell = (value: bigint | null | undefined): string =>
    value === null || value === undefined ? '–' : formatValue(value)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it
    <section className="tg-dash-scroll" aria-label={t('dashboard.tableCaption')} tabIndex={0}>
      <table className="tg-dash-table">
        <caption className="tg-visually-hidden">{t('dashboard.tableCaption')}</caption>
        <TableHead
          titles={[
            t('shared.time'),
            ...chart.series.map(({ name }) => seriesName(name)),
            t('dashboard.total'),
          ]}
        />
        <tbody>
          {chart.buckets.toReversed().map((bucket) => (
            <tr key={bucket.at}>
              <th scope="row">{bucketText(bucket.at, chart)}</th>
              {chart.series.map(({ name }) => (
                <td key={name}>{cell(bucket.values.get(name))}</td>
              ))}
              <td>{cell(bucket.total)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t('dashboard.total')}</th>
            {chart.series.map(({ name, total }) => (
              <td key={name}>{formatValue(total)}</td>
            ))}
            <td>{formatValue(chart.total)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  )
}

function ChartSummary(props: ChartTexts & { view: ChartView }) {
  const { t } = useTranslation()
  const { chart, view, formatValue } = props
  const range = t(view.zoom === null ? `dashboard.${view.range}` : 'dashboard.selectedRange')
  const first = chart.series[0]
  if (first === undefined || chart.peak === null || chart.total === 0n) {
    return <p className="tg-dash-summary">{t('dashboard.summaryEmpty', { range })}</p>
  }
  const share = Number((first.total * 1000n) / chart.total) / 10
  return (
    <p className="tg-dash-summary">
      {t('dashboard.summary', {
        range,
        total: formatValue(chart.total),
        model: props.seriesName(first.name),
        share,
        peak: bucketText(chart.peak.at, chart),
        peakTotal: formatValue(chart.peak.total ?? 0n),
      })}
    </p>
  )
}

const UsageBarChart = lazy(async () => ({
  default: (await import('./usage-bar-chart.tsx')).UsageBarChart,
}))

export function UsagePanel({
  view,
  pollIntervalMs,
}: {
  view: ChartView
  pollIntervalMs: number | false
}) {
  const { t } = useTranslation()
  const [isTable, setTable] = useState(false)
  const { calendar, measure, zoom, set } = view
  const { data, error, refetch } = useUsagePoints(view, pollIntervalMs)
  const { step, isUtc } = calendar
  const chart = useMemo(
    () =>
      data &&
      prepareUsageChart(data.points, { from: data.from, to: data.to, step, isUtc, measure }),
    [data, step, isUtc, measure],
  )
  const text = useMeasureText(measure)
  const zone = isUtc ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <Panel
      title={t(view.scope === 'all' ? 'dashboard.chartOfAll' : 'shared.usage')}
      lead={t('dashboard.chartLead', { step: t(`dashboard.step.${step}`), zone })}
      actions={
        <Button tone="quiet" icon={isTable ? 'chart' : 'list'} onClick={() => setTable(!isTable)}>
          {isTable ? t('shared.asChart') : t('shared.asTable')}
        </Button>
      }
    >
      <ChartControls view={view} />
      {zoom !== null && <ZoomLine zoom={zoom} onOut={() => set({ from: 0, to: 0 })} />}
      <QueryView query={{ data: chart, error, refetch }} waiting={PLACEHOLDER}>
        {(shown) => (
          <ChartBody
            chart={shown}
            view={view}
            text={text}
            isTable={isTable}
            onZoom={({ from, to }) => set({ from, to })}
          />
        )}
      </QueryView>
    </Panel>
  )
}

function ZoomLine({ zoom, onOut }: { zoom: Interval; onOut: () => void }) {
  const { t } = useTranslation()
  const hour = { step: 'hour' as const }
  return (
    <p className="tg-dash-zoom">
      {t('dashboard.zoomed', {
        from: bucketText(zoom.from, hour),
        to: bucketText(zoom.to + 1, hour),
      })}
      <Button size="small" tone="quiet" icon="close" onClick={onOut}>
        {t('dashboard.zoomOut')}
      </Button>
    </p>
  )
}

const PLACEHOLDER = (
  <div className="tg-dash-chart">
    <Skeleton height={220} />
  </div>
)

function ChartBody(props: {
  chart: UsageChart
  view: ChartView
  text: (value: bigint) => string
  isTable: boolean
  onZoom: (interval: Interval) => void
}) {
  const { t } = useTranslation()
  const { chart, view, text } = props
  const valueLabel = useMeasureLabel(view.measure, text)
  const others = view.by === 'token' ? 'dashboard.otherTokens' : 'dashboard.others'
  const nameOf = (series: string): string => (series === OTHER_SERIES ? t(others) : series)
  return (
    <>
      <ChartSummary chart={chart} view={view} formatValue={valueLabel} seriesName={nameOf} />
      {props.isTable ? (
        <UsageTable chart={chart} formatValue={text} seriesName={nameOf} />
      ) : (
        <Suspense fallback={PLACEHOLDER}>
          <UsageBarChart
            chart={chart}
            formatValue={text}
            seriesName={nameOf}
            onZoom={props.onZoom}
          />
        </Suspense>
      )}
    </>
  )
}

function useMeasureText(measure: ChartMeasure): (value: bigint) => string {
  const rule = useMoneyRule()
  const number = useNumberFormat()
  return useMemo(
    () => (value) => (measure === 'quota' ? exactQuotaText(value, rule) : number.format(value)),
    [measure, rule, number],
  )
}

function useMeasureLabel(
  measure: ChartMeasure,
  text: (value: bigint) => string,
): (value: bigint) => string {
  const { t } = useTranslation()
  if (measure === 'quota') return text
  const textKey = measure === 'count' ? 'dashboard.countText' : 'dashboard.tokenText'
  return (value) => t(textKey, { count: Number(value), number: text(value) })
}

function ChartControls({ view }: { view: ChartView }) {
  const { t } = useTranslation()
  const { set } = view
  return (
    <div className="tg-dash-controls">
      {view.isSiteKnown && (
        <Segmented
          label={t('dashboard.scope')}
          value={view.scope}
          choices={[
            { value: 'self', label: t('dashboard.mine') },
            { value: 'all', label: t('dashboard.everybody') },
          ]}
          onChange={(scope) => set({ scope })}
        />
      )}
      {view.scope === 'self' && (
        <Segmented
          label={t('dashboard.by')}
          value={view.by}
          choices={[
            { value: 'model', label: t('shared.byModel') },
            { value: 'token', label: t('dashboard.byToken') },
          ]}
          onChange={(by) => set({ by })}
        />
      )}
      <Segmented
        label={t('dashboard.measure')}
        value={view.measure}
        choices={choicesOf(MEASURES, (value) => t(`dashboard.${value}`))}
        onChange={(measure) => set({ measure })}
      />
      {view.steps.length > 1 && (
        <Segmented
          label={t('dashboard.interval')}
          value={view.step}
          choices={choicesOf(view.steps, (value) => t(`dashboard.per.${value}`))}
          onChange={(step) => set({ step })}
        />
      )}
      <Segmented
        label={t('dashboard.range')}
        value={view.zoom === null ? view.range : ''}
        choices={choicesOf(view.ranges, (value) => t(`dashboard.${value}`))}
        onChange={(range) => set({ range, from: 0, to: 0 })}
      />
    </div>
  )
}
