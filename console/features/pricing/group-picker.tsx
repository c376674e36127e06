import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { GroupBadge } from '#console/ui/group-tag.tsx'
import { useGroupWords } from '#console/ui/group-words.ts'
import { RadioCards } from '#console/ui/switches.tsx'
import { RatioTag } from './ratio-tag.tsx'
import type { PricingView } from './use-pricing.ts'

/** A card for each of the viewer's groups: what it is, its ratio, how many models it reaches. */
export function GroupPicker({ view }: { view: PricingView }): ReactElement | null {
  const { t } = useTranslation()
  const words = useGroupWords()
  const groups = Object.entries(view.groups)
  if (groups.length === 0) return null
  const count = (name: string): number =>
    view.all.filter(({ enable_groups }) => enable_groups.includes(name)).length
  return (
    <div className="tg-price-groups">
      <RadioCards
        label={t('pricing.group')}
        value={view.group}
        choices={groups.map(([name, { desc, ratio, color }]) => ({
          value: name,
          label: (
            <span className="tg-price-group">
              <GroupBadge name={name} color={color} />
              <RatioTag ratio={ratio} />
            </span>
          ),
          hint: (
            <span className="tg-price-group">
              {desc !== name && <span>{words(name, desc)}</span>}
              <span className="tg-number">{t('pricing.models', { count: count(name) })}</span>
            </span>
          ),
        }))}
        onChange={view.setGroup}
      />
    </div>
  )
}
