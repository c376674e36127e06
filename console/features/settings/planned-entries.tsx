import type { TFunction } from 'i18next'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import type { ScheduledChange } from '#read-api/contract/option.ts'
import { useOptionLabel } from './use-option-label.ts'

/** What will be set to what. */
export function PlannedEntries(props: { entries: ScheduledChange['changes'] }): ReactElement {
  const { t } = useTranslation()
  const optionLabel = useOptionLabel()
  return (
    <ul className="tg-planned-entries">
      {props.entries.map(({ option, name, value }) => (
        <li key={`${option} ${name}`}>
          <span className={name === '' ? undefined : 'tg-mono'}>{name || optionLabel(option)}</span>
          <span className="tg-quiet">{name === '' ? '' : optionLabel(option)}</span>
          <span>{valueText(t, value)}</span>
        </li>
      ))}
    </ul>
  )
}

function valueText(t: TFunction, value: string | null): string {
  if (value === 'true') return t('prices.on')
  if (value === 'false') return t('prices.off')
  return value ?? t('prices.removed')
}
