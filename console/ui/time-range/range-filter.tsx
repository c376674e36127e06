import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { Button } from '../elements/button.tsx'
import { Icon } from '../elements/icons.tsx'
import { Popover } from '../elements/popover.tsx'
import { stampText } from '../elements/time-text.ts'
import './range-filter.css'
import {
  boundsOf,
  localTimeText,
  readLocalTime,
  relativeRange,
  SPANS,
  type TimeRange,
  zoneName,
} from './time-range.ts'

type Props = { range: TimeRange; onRange: (range: TimeRange) => void }

export function RangeFilter({ range, onRange }: Props) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const select = (next: TimeRange): void => {
    setOpen(false)
    onRange(next)
  }
  const label =
    range.kind === 'relative'
      ? t(`timeRange.span.${range.span}`)
      : `${stampText(range.from).slice(0, 16)} – ${stampText(range.to).slice(0, 16)}`
  return (
    <Popover
      placement="bottom-start"
      isOpen={isOpen}
      onOpenChange={setOpen}
      content={<RangeChoices range={range} onRange={select} />}
    >
      <Button icon="clock" endIcon="chevronDown">
        <span className="tg-visually-hidden">{t('shared.timeRange')}: </span>
        {label}
      </Button>
    </Popover>
  )
}

function RangeChoices({ range, onRange }: Props) {
  const { t } = useTranslation()
  return (
    <div className="tg-range">
      <ul aria-label={t('shared.timeRange')}>
        {SPANS.map((span) => {
          const isSelected = range.kind === 'relative' && range.span === span
          return (
            <li key={span}>
              <button
                type="button"
                aria-pressed={isSelected}
                onClick={() => onRange(relativeRange(span))}
              >
                {t(`timeRange.span.${span}`)}
                {isSelected && <Icon name="check" size={14} />}
              </button>
            </li>
          )
        })}
      </ul>
      <FixedEnds range={range} onRange={onRange} />
    </div>
  )
}

function FixedEnds({ range, onRange }: Props) {
  const { t } = useTranslation()
  const now = currentSeconds()
  const bounds = boundsOf(range, now)
  const [from, setFrom] = useState(localTimeText(bounds.from ?? now - 86_400))
  const [to, setTo] = useState(localTimeText(Math.min(bounds.to ?? now, now)))
  const [isInvalid, setInvalid] = useState(false)
  const apply = (): void => {
    const [start, end] = [readLocalTime(from), readLocalTime(to)]
    if (start === null || end === null || start > end) setInvalid(true)
    // The range includes all seconds of the selected last minute.
    else onRange({ kind: 'absolute', from: start, to: end + 59 })
  }
  return (
    <form
      className="tg-range-ends"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <EndField label={t('timeRange.from')} value={from} onChange={setFrom} />
      <EndField label={t('timeRange.to')} value={to} onChange={setTo} />
      <p className="tg-hint">{t('timeRange.zone', { zone: zoneName() })}</p>
      {isInvalid && (
        <p className="tg-field-error" role="alert">
          {t('timeRange.invalid')}
        </p>
      )}
      <Button type="submit" tone="primary" isFill>
        {t('timeRange.apply')}
      </Button>
    </form>
  )
}

function EndField(props: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <label className="tg-label">
      {props.label}
      <input
        type="datetime-local"
        className="tg-input"
        value={props.value}
        onChange={(event) => props.onChange(event.currentTarget.value)}
      />
    </label>
  )
}
