import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import type { ScheduledChange } from '#read-api/contract/options.ts'
import { groupPairOf } from './group-rows.ts'
import { shortRatio } from './price-conversion.ts'
import { useOptionTexts } from './use-option-texts.ts'

export function ScheduledEntries(props: { entries: ScheduledChange['changes'] }) {
  const { t } = useTranslation()
  const { label: optionLabel } = useOptionTexts()
  return (
    <ul className="tg-planned-entries">
      {props.entries.map(({ option, name, value }) => (
        <li key={`${option} ${name}`}>
          <PriceSubject option={option} name={name} />
          <span className="tg-quiet">{name === '' ? '' : optionLabel(option)}</span>
          <span>{valueText(t, value, t('pricing.removed'))}</span>
        </li>
      ))}
    </ul>
  )
}

/**
 * Shows the subject of a changed price: a model, a group or a pair of groups. For an option with a
 * single value, shows the label of the option.
 */
export function PriceSubject({ option, name }: { option: string; name: string }) {
  const { t } = useTranslation()
  const { label: optionLabel } = useOptionTexts()
  const pair = option === 'GroupGroupRatio' ? groupPairOf(name) : null
  if (pair !== null) {
    const [user, group] = pair
    return (
      <span>
        <GroupTag name={user} /> {t('pricing.usersCalling')} <GroupTag name={group} />
      </span>
    )
  }
  if (option === 'GroupRatio') {
    return (
      <span>
        <GroupTag name={name} />
      </span>
    )
  }
  return <span className={name === '' ? undefined : 'tg-mono'}>{name || optionLabel(option)}</span>
}

export function valueText(t: TFunction, value: string | null, none: string): string {
  if (value === 'true') return t('pricing.on')
  if (value === 'false') return t('pricing.off')
  return value === null ? none : shortRatio(value)
}
