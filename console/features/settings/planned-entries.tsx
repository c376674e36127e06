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
          <span className="tg-mono">{name}</span>
          <span className="tg-quiet">{optionLabel(option)}</span>
          <span>{value ?? t('prices.removed')}</span>
        </li>
      ))}
    </ul>
  )
}
