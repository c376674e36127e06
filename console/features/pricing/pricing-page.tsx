import { useTranslation } from 'react-i18next'
import { useUser } from '#console/api/session.ts'
import { GroupBadge, useTranslateGroupDescription } from '#console/ui/elements/group-tag.tsx'
import { RadioCards } from '#console/ui/forms/choice-inputs.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { hasMediaPrices } from './model-prices.ts'
import { RatioTag } from './price-columns.tsx'
import { PriceList } from './price-list.tsx'
import { type PricingView, usePricing } from './use-pricing.ts'
import '../../ui/forms/forms.css'
import './pricing.css'

function GroupPicker({ view }: { view: PricingView }) {
  const { t } = useTranslation()
  const describeGroup = useTranslateGroupDescription()
  const groups = Object.entries(view.groups)
  if (view.query.isPending) return <GroupsPlaceholder />
  if (groups.length === 0) return null
  const count = (name: string): number =>
    view.all.filter(({ enable_groups }) => enable_groups.includes(name)).length
  return (
    <div className="tg-price-groups">
      <RadioCards
        label={t('ui.groupName')}
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
              {desc !== name && <span>{describeGroup(name, desc)}</span>}
              <span className="tg-number">{t('pricing.models', { count: count(name) })}</span>
            </span>
          ),
        }))}
        onChange={view.setGroup}
      />
    </div>
  )
}

/**
 * A placeholder that is as high as two cards of groups. The placeholder keeps the list below in
 * place when the cards load.
 */
function GroupsPlaceholder() {
  const { t } = useTranslation()
  return (
    <div className="tg-price-groups">
      <div className="tg-radio-cards tg-price-groups-wait">
        <p className="tg-label">{t('ui.groupName')}</p>
        <Skeleton />
        <Skeleton />
      </div>
    </div>
  )
}

/** Shows the prices of models. Visitors without a login see the prices of the default group. */
export function PricingPage() {
  const { t } = useTranslation()
  const view = usePricing()
  const isVisitor = useUser() === null
  return (
    <Page
      title={t('pricing.title')}
      lead={isVisitor ? t('pricing.leadVisitor') : t('pricing.leadUser')}
    >
      <GroupPicker view={view} />
      <PriceList view={view} />
      <section className="tg-price-notes" aria-label={t('pricing.notes')}>
        <p>{t('pricing.noteTokens')}</p>
        {view.all.some(hasMediaPrices) && <p>{t('pricing.noteMedia')}</p>}
        <p>{t('pricing.noteCall')}</p>
        <p>{t('pricing.noteImage')}</p>
        <p>{t('pricing.formula')}</p>
      </section>
    </Page>
  )
}
