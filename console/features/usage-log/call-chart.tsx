import { type KeyboardEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { axisTicks, barTimeText, type CallBar, useCallBars, useIsWide } from './call-chart-bars.ts'
import type { LogView } from './use-log-view.ts'

type Props = { bars: readonly CallBar[]; onSelect: (bar: CallBar) => void }

export function CallChart({ view }: { view: LogView }) {
  const { t } = useTranslation()
  const [isTable, setTable] = useState(false)
  const bars = useCallBars(view)
  if (bars === null) return null
  if (bars === 'pending') return <div className="tg-log-chart" />
  const select = ({ from, to }: CallBar): void =>
    view.setFilters({ range: { kind: 'absolute', from, to } })
  return (
    <section className="tg-log-chart" aria-label={t('usageLog.chart.title')}>
      {isTable ? <Table bars={bars} onSelect={select} /> : <Bars bars={bars} onSelect={select} />}
      <Button
        tone="quiet"
        size="small"
        icon={isTable ? 'chart' : 'list'}
        label={isTable ? t('usageLog.chart.asBars') : t('usageLog.chart.asTable')}
        onClick={() => setTable(!isTable)}
      />
    </section>
  )
}

/**
 * Draws one button for each bar. The Tab key reaches the chart once, and the arrow keys, Home and
 * End move between the bars.
 */
function Bars({ bars, onSelect }: Props) {
  const { t } = useTranslation()
  const text = useBarText()
  const barList = useRef<HTMLDivElement>(null)
  const [stop, setStop] = useState(bars.length - 1)
  const [focusedIndex, setFocusedIndex] = useState<number | null>(null)
  const number = useNumberFormat()
  const max = Math.max(1, ...bars.map(({ count }) => count))
  const current = Math.min(stop, bars.length - 1)
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: bars.length - 1 }
    const next = steps[event.key as keyof typeof steps]
    if (next === undefined) return
    event.preventDefault()
    const button = barList.current?.children[next]
    if (button instanceof HTMLElement) button.focus()
  }
  const focusedBar = bars[focusedIndex ?? -1]
  return (
    <div className="tg-log-bars">
      <p>{focusedBar === undefined ? t('usageLog.chart.title') : text(focusedBar)}</p>
      <div className="tg-log-scale" aria-hidden="true">
        <span>{number.format(max)}</span>
        <span>0</span>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between bars */}
      <div
        ref={barList}
        className="tg-log-plot"
        onKeyDown={onKeyDown}
        onPointerLeave={() => setFocusedIndex(null)}
      >
        {bars.map((bar, index) => (
          <button
            key={bar.from}
            type="button"
            tabIndex={index === current ? 0 : -1}
            aria-label={text(bar)}
            onClick={() => onSelect(bar)}
            onPointerEnter={() => setFocusedIndex(index)}
            onFocus={() => {
              setStop(index)
              setFocusedIndex(index)
            }}
            onBlur={() => setFocusedIndex(null)}
          >
            {bar.count > 0 && <span style={{ height: `${(bar.count / max) * 100}%` }} />}
          </button>
        ))}
      </div>
      <TimeAxis bars={bars} />
    </div>
  )
}

/**
 * Labels the bars with times. Screen readers skip the labels, because the name of each bar already
 * contains its time.
 */
function TimeAxis({ bars }: { bars: readonly CallBar[] }) {
  const ticks = axisTicks(bars, useIsWide())
  return (
    <div
      className="tg-log-axis"
      aria-hidden="true"
      style={{ gridTemplateColumns: `repeat(${bars.length}, minmax(0, 1fr))` }}
    >
      {ticks.map(({ index, text }) => (
        <span
          key={index}
          className={index > 0 && index === bars.length - 1 ? 'tg-log-axis-end' : undefined}
          style={{ gridColumn: index + 1 }}
        >
          {text}
        </span>
      ))}
    </div>
  )
}

function Table({ bars, onSelect }: Props) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const rule = useMoneyRule()
  return (
    <div className="tg-log-bar-table">
      <table className="tg-log-table">
        <thead>
          <tr>
            <th scope="col">{t('shared.time')}</th>
            <th scope="col" className="tg-log-end">
              {t('shared.calls')}
            </th>
            <th scope="col" className="tg-log-end">
              {t('usageLog.cost')}
            </th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.from}>
              <th scope="row">
                <button type="button" className="tg-cell-button" onClick={() => onSelect(bar)}>
                  {barTimeText(bar)}
                </button>
              </th>
              <td className="tg-log-end">{number.format(bar.count)}</td>
              <td className="tg-log-end">{exactQuotaText(bar.quota, rule)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Returns a function that describes a bar, such as `11-21 07:00–08:00: 45 calls, $0.27`. */
function useBarText(): (bar: CallBar) => string {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const rule = useMoneyRule()
  return (bar) =>
    t('usageLog.chart.bar', {
      time: barTimeText(bar),
      count: bar.count,
      number: number.format(bar.count),
      cost: exactQuotaText(bar.quota, rule),
    })
}
